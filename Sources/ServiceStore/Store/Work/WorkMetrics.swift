import Logging
import RPC
import ServiceKit
import Synchronization

/// Metrics of one queue: its backlog, which is the same at every replica, and what this process did.
public final class WorkMetrics: Sendable {
    /// How often the backlog is read.
    public static let interval: Duration = .seconds(2)

    let queue: String
    fileprivate let done = CounterFamily.Counter()
    fileprivate let failures = CounterFamily.Counter()
    fileprivate let parked = CounterFamily.Counter()
    fileprivate let backlog = Mutex<WorkBacklog?>(nil)

    init(queue: String) { self.queue = queue }

    /// How many items were done.
    var doneCount: Int { Int(done.value) }

    func count(done: Int) { self.done.add(UInt64(done)) }

    func count(parked: Int) { self.parked.add(UInt64(parked)) }

    func countFailure() { failures.add() }

    /// Reads the backlog until the task is cancelled. While the database fails, none is reported.
    func watch(_ table: WorkTable, logger: Logger) async {
        while !Task.isCancelled {
            do {
                let now = try await table.backlog(of: queue)
                backlog.withLock { $0 = now }
            } catch {
                backlog.withLock { $0 = nil }
                if !Task.isCancelled { logger.debug("work cannot be counted", metadata: ["error": "\(error)"]) }
            }
            try? await Task.sleep(for: Self.interval)
        }
    }
}

/// The metrics of all queues of a process.
public struct WorkMetricsList: MetricsSource {
    private let list: [WorkMetrics]

    /// The metrics of queues with different names.
    public init(_ list: [WorkMetrics]) { self.list = list }

    /// Adds the families.
    public func write(to text: inout MetricsText) {
        let known = list.compactMap { one in
            one.backlog.withLock { $0 }.map { (labels: [("queue", one.queue)], backlog: $0) }
        }
        text.family(
            "vestibule_work_waiting",
            .gauge,
            help: "Items of a queue that wait or are worked on; counting stops past ten thousand.",
            known.map { ($0.labels, Double($0.backlog.waitingCount)) }
        )
        text.family(
            "vestibule_work_oldest_age_seconds",
            .gauge,
            help: "How long the oldest waiting item of a queue has waited; 0 without any.",
            known.map { ($0.labels, Double($0.backlog.oldestAge.wholeNanoseconds) / 1e9) }
        )
        text.family(
            "vestibule_work_parked",
            .gauge,
            help: "Items that are parked, and those that wait behind one, until an operator retries or discards it.",
            known.map { ($0.labels, Double($0.backlog.parkedCount)) }
        )
        func counter(_ name: StaticString, help: StaticString, _ counter: (WorkMetrics) -> CounterFamily.Counter) {
            text.family(name, .counter, help: help, list.map { ([("queue", $0.queue)], Double(counter($0).value)) })
        }
        counter("vestibule_work_done_total", help: "Items that were done.") { $0.done }
        counter("vestibule_work_failures_total", help: "Calls that failed and are made again.") { $0.failures }
        counter("vestibule_work_parked_total", help: "Items that were parked.") { $0.parked }
    }
}
