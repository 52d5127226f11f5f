import Dispatch
import Synchronization
import TestWaits
import Testing

@testable import RPCTransport

/// How names are looked up where nobody answers for some of them.
@Suite(.timeLimit(.minutes(5)))
struct LookUpsTests {
    /// Answers at once, but for hosts that hang until they are let go.
    final class Names: Sendable {
        let asked = Mutex<[String]>([])
        let threads = Mutex(0)
        let threadsMax = Mutex(0)
        private let gate = DispatchSemaphore(value: 0)

        func lookUp(_ host: String) -> [String] {
            asked.withLock { $0.append(host) }
            let count = threads.withLock { count in
                count += 1
                return count
            }
            threadsMax.withLock { $0 = max($0, count) }
            if host.hasPrefix("stuck") { gate.wait() }
            threads.withLock { $0 -= 1 }
            return ["address of \(host)"]
        }

        func letGo(_ count: Int) { for _ in 0..<count { gate.signal() } }
    }

    @Test func `A stuck name takes one thread however many wait for it`() async throws {
        let names = Names()
        let lookUps = LookUps(threadsMax: 2, hostsMax: 10) { names.lookUp($0) }
        let stuck = (0..<20).map { _ in Task { await lookUps.addresses(of: "stuck") } }
        try await eventually { names.asked.withLock { $0 } == ["stuck"] }
        for index in 0..<50 {
            #expect(await lookUps.addresses(of: "host\(index)") == ["address of host\(index)"])
        }
        names.letGo(1)
        for task in stuck { #expect(await task.value == ["address of stuck"]) }
        #expect(names.asked.withLock { asked in asked.filter { $0 == "stuck" }.count } == 1)
    }

    @Test func `Threads and hosts are bounded`() async throws {
        let names = Names()
        let lookUps = LookUps(threadsMax: 3, hostsMax: 5) { names.lookUp($0) }
        let stuck = (0..<5).map { index in Task { await lookUps.addresses(of: "stuck\(index)") } }
        try await eventually { names.threads.withLock { $0 } == 3 }
        // Asked any earlier, it would be one of the five and wait as they do.
        try await eventually { lookUps.hostCount == 5 }
        #expect(await lookUps.addresses(of: "one too many").isEmpty)
        names.letGo(5)
        for (index, task) in stuck.enumerated() { #expect(await task.value == ["address of stuck\(index)"]) }
        #expect(names.threadsMax.withLock { $0 } == 3)
        #expect(await lookUps.addresses(of: "later") == ["address of later"], "threads start anew")
    }
}
