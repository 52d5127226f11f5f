import Logging
import Postgres
import RPC
import RPCTransport
import ServiceKit
import ServiceLifecycle
import Synchronization
import Tracing

/// Does the work of one queue, as a `Service`: at least once, in the order of each key where the kind asks for it, until it succeeds or
/// is parked. Any number of replicas run one each.
///
/// A nudge after a commit makes it prompt; polling makes it certain. Items are claimed for longer than their call may take, and no
/// transaction is open during the call. While nothing of the queue can be done the runner backs off, with jitter so that replicas which
/// failed together don't retry together. Items that fail together are retried in halves, until the one at fault is alone: that one is
/// parked if it is rejected, else retried after growing waits, and meanwhile the others are done.
public final class WorkRunner<Kind: WorkKind>: Service {
    /// The kind of work.
    public let kind: Kind
    /// What was done so far.
    public let metrics: WorkMetrics
    let table: WorkTable
    private let rules: WorkRules
    private let logger: Logger
    private let random: @Sendable () -> Double
    private let tracing: WorkTracing?
    private let bell = CoalescingSignal()
    /// Rung once, at a graceful shutdown.
    private let stop = CoalescingSignal()
    private let isRun = Atomic(false)
    private let state: Mutex<State>

    /// The time between two warnings with the same message. Static stored properties can't be in generic types.
    private static var warningInterval: Duration { .seconds(30) }

    private struct State {
        var pace: WorkPace
        var callsUnderWay = 0
        /// How often in a row nothing of the queue could be done.
        var outages = 0
        /// When each message was logged last.
        var warnedAt: [String: ContinuousClock.Instant] = [:]
    }

    /// A runner, which does nothing before `run` or `round`.
    ///
    /// - Parameters:
    ///   - rules: how the queue is worked on; the kind's rules if nil.
    ///   - logger: for failures and parked items.
    ///   - random: a number in 0..<1 for the jitter.
    ///   - tracer: makes the spans of items; nil for none.
    public init(
        _ kind: Kind,
        in table: WorkTable,
        rules: WorkRules? = nil,
        logger: Logger,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        tracer: (any Tracer)? = Traces.tracer
    ) {
        self.kind = kind
        self.table = table
        let rules = rules ?? kind.rules
        self.rules = rules
        var logger = logger
        logger[metadataKey: "queue"] = "\(kind.queue)"
        self.logger = logger
        self.random = random
        metrics = WorkMetrics(queue: kind.queue)
        tracing = tracer.map { WorkTracing($0, queue: kind.queue) }
        state = Mutex(State(pace: WorkPace(max: rules.together, quick: rules.quickCall)))
    }

    /// Says that work was committed. Any thread; cheap; never waits.
    public func nudge() { bell.ring() }

    /// Reads the backlog until the task is cancelled.
    public func watch() async { await metrics.watch(table, logger: logger) }

    /// Works until a graceful shutdown, which lets the calls under way end, or until the task is cancelled, which ends them: their items
    /// are due again at once. Throws `TransportError.alreadyRun` the second time.
    public func run() async throws {
        guard !isRun.exchange(true, ordering: .relaxed) else { throw TransportError.alreadyRun }
        await withGracefulShutdownHandler {
            await work()
        } onGracefulShutdown: { [bell, stop] in
            bell.ring()
            stop.ring()
        }
    }

    private func work() async {
        await withDiscardingTaskGroup { calls in
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                let outages = state.withLock { $0.outages }
                if outages > 0 {
                    // A nudge doesn't cut the wait short: new work doesn't mend the receiver.
                    await stop.wait(atMost: rules.outage.wait(failures: outages, random: random()))
                    if Task.isCancelled || Task.isShuttingDownGracefully { break }
                }
                if await begin(in: &calls) { continue }
                await bell.wait(atMost: rules.pollInterval)
            }
        }
    }

    /// Begins calls as far as there is room. Returns whether there may be more to begin now.
    private func begin(in calls: inout DiscardingTaskGroup) async -> Bool {
        let (room, together) = state.withLock { (rules.atOnce - $0.callsUnderWay, $0.pace.count) }
        // The end of a call rings the bell.
        guard room > 0 else { return false }
        let deadline = Deadline.after(rules.timeout)
        let limit = room * together
        guard let claim = await claim(limit) else { return false }
        for lane in lanes(claim, together, room) {
            state.withLock { $0.callsUnderWay += 1 }
            calls.addTask {
                await self.perform(lane, of: claim, deadline)
                self.state.withLock { $0.callsUnderWay -= 1 }
                self.bell.ring()
            }
        }
        return !claim.unreadable.isEmpty
    }

    /// Does all work that is due now, and returns how many items were done: for tests, and callers that have time to wait.
    @discardableResult
    public func round() async -> Int {
        let before = metrics.doneCount
        while !Task.isCancelled {
            let together = state.withLock { $0.pace.count }
            let deadline = Deadline.after(rules.timeout)
            guard let claim = await claim(rules.atOnce * together) else { break }
            if claim.isEmpty { break }
            await withDiscardingTaskGroup { calls in
                for lane in lanes(claim, together, rules.atOnce) {
                    calls.addTask { await self.perform(lane, of: claim, deadline) }
                }
            }
            if state.withLock({ $0.outages }) > 0 { break }
        }
        return metrics.doneCount - before
    }

    // MARK: - Claims

    private typealias Claim = WorkTable.Claim<Kind.Item>

    /// Claims work; nil if the database fails.
    private func claim(_ limit: Int) async -> Claim? {
        do {
            let claim = try await table.claim(kind, rules, limit: limit)
            if !claim.unreadable.isEmpty {
                try await table.park(claim.unreadable, reason: "UNREADABLE", leasedUntil: claim.leasedUntil)
                metrics.count(parked: claim.unreadable.count)
                logger.error("work can't be read and is parked", metadata: ["count": "\(claim.unreadable.count)"])
            }
            return claim
        } catch {
            countOutage()
            warn("work cannot be claimed, will retry", ["error": "\(error)"])
            return nil
        }
    }

    /// What one call does: items together, and each that failed before alone.
    private static func calls(_ entries: [Claim.Entry], together: Int) -> [[Claim.Entry]] {
        var calls: [[Claim.Entry]] = []
        for entry in entries {
            if entry.tries == 1, let last = calls.last, last.count < together, last[0].tries == 1 {
                calls[calls.count - 1].append(entry)
            } else {
                calls.append([entry])
            }
        }
        return calls
    }

    // MARK: - Calls

    /// The calls, dealt to as many lanes as may be under way at once. The calls of a lane are made one after the other.
    private func lanes(_ claim: Claim, _ together: Int, _ room: Int) -> [[[Claim.Entry]]] {
        let calls = Self.calls(claim.entries, together: together)
        // The turn of an ordered queue ends behind its one lane.
        guard !calls.isEmpty else { return rules.isOrdered && !claim.isEmpty ? [[]] : [] }
        var lanes = [[[Claim.Entry]]](repeating: [], count: min(calls.count, rules.isOrdered ? 1 : room))
        for (index, call) in calls.enumerated() { lanes[index % lanes.count].append(call) }
        return lanes
    }

    private func perform(_ lane: [[Claim.Entry]], of claim: Claim, _ deadline: Deadline) async {
        var isOver = false
        for call in lane {
            // The calls share the time of the claim. Behind a failure of an ordered queue, and while nothing can be done, the rest is
            // due again.
            isOver = isOver || deadline.hasPassed
            let isDone = await perform(isOver ? nil : call, releasing: call, claim.leasedUntil, deadline)
            isOver = isOver || !isDone && (rules.isOrdered || state.withLock { $0.outages } > 0)
        }
        guard rules.isOrdered else { return }
        do {
            // A task of its own, as below: others wait for this.
            try await Task { try await table.endTurn(in: kind.queue, leasedUntil: claim.leasedUntil) }.value
        } catch {
            warn("the queue is kept until the lease ends", ["error": "\(error)"])
        }
    }

    /// Makes a call, or releases its items if nil. Returns whether it succeeded.
    private func perform(
        _ call: [Claim.Entry]?,
        releasing entries: [Claim.Entry],
        _ leasedUntil: PostgresTimestamp,
        _ deadline: Deadline
    ) async -> Bool {
        let began = ContinuousClock.now
        var failure: (any Error)?
        if let call { failure = await attempt(call, deadline) }
        // A cancelled call says nothing of its items.
        let isReleased = call == nil || failure != nil && Task.isCancelled
        do {
            // A task of its own: what a call came to is stored also if this one was cancelled, or the items would wait for the end of
            // their lease. Its statements have limits.
            try await Task { [failure] in
                if isReleased {
                    try await self.table.release(entries.map(\.id), leasedUntil: leasedUntil)
                } else if let failure {
                    try await self.settle(entries, failure, leasedUntil)
                } else {
                    try await self.kind.finish(entries.map(\.item), ids: entries.map(\.id), in: self.table.database)
                    self.succeeded(entries.count, took: ContinuousClock.now - began)
                }
            }.value
        } catch {
            // The items are due again when their lease is over.
            countOutage()
            warn("the result of work cannot be stored, will retry", ["error": "\(error)"])
            return false
        }
        return !isReleased && failure == nil
    }

    private func succeeded(_ count: Int, took: Duration) {
        metrics.count(done: count)
        state.withLock { state in
            state.outages = 0
            state.pace.succeeded(took: took)
        }
    }

    private func attempt(_ call: [Claim.Entry], _ deadline: Deadline) async -> (any Error)? {
        let items = call.map(\.item)
        do {
            if let tracing {
                try await tracing.perform(call.compactMap(\.trace), itemCount: call.count) {
                    try await kind.perform(items, deadline: deadline)
                }
            } else {
                try await kind.perform(items, deadline: deadline)
            }
            return nil
        } catch {
            return error
        }
    }

    private func settle(_ call: [Claim.Entry], _ failure: any Error, _ leasedUntil: PostgresTimestamp) async throws {
        let ids = call.map(\.id)
        let rejection = failure as? WorkRejection
        let setback = failure as? WorkSetback
        guard rejection != nil || setback != nil else {
            countOutage()
            warn("work failed, will retry", ["error": "\(failure)", "items": "\(call.count)"])
            return try await table.release(ids, leasedUntil: leasedUntil)
        }
        // The receiver is there.
        state.withLock { state in
            state.outages = 0
            state.pace.failed(call.count)
        }
        guard call.count == 1 else {
            if let setback {
                metrics.countFailure()
                warn("work failed, will retry in halves", ["error": "\(setback.cause)", "items": "\(call.count)"])
            }
            return try await table.release(ids, leasedUntil: leasedUntil)
        }
        if let rejection { return try await park(call[0], rejection.reason, leasedUntil) }
        guard let setback else { return }
        guard let wait = wait(call[0], setback) else {
            let reason = rules.triesMax == nil ? setback.reason : "\(setback.reason) \(call[0].tries) times"
            return try await park(call[0], reason, leasedUntil)
        }
        metrics.countFailure()
        warn(
            "work failed, will retry it alone",
            ["error": "\(setback.cause)", "reason": .string(setback.reason), "wait": "\(wait)"]
        )
        try await table.postpone(call[0].id, by: wait, reason: setback.reason, leasedUntil: leasedUntil)
    }

    /// The wait before an item's next try; nil if it had its last one.
    private func wait(_ entry: Claim.Entry, _ setback: WorkSetback) -> Duration? {
        let wait = max(rules.retry.wait(failures: entry.tries, random: random()), min(setback.pause, rules.retry.max))
        guard setback.isItemAtFault else { return wait }
        if let triesMax = rules.triesMax, entry.tries >= triesMax { return nil }
        guard let triedFor = rules.triedFor else { return wait }
        let left = triedFor - .milliseconds(table.nowMilliseconds() - entry.triedFrom)
        return left > .zero ? min(wait, left) : nil
    }

    private func park(_ entry: Claim.Entry, _ reason: String, _ leasedUntil: PostgresTimestamp) async throws {
        try await table.park([entry.id], reason: reason, leasedUntil: leasedUntil)
        metrics.count(parked: 1)
        logger.error("work is parked", metadata: ["id": "\(entry.id)", "reason": .string(reason)])
    }

    private func countOutage() {
        metrics.countFailure()
        state.withLock { $0.outages += 1 }
    }

    /// Logs a failure, each message at most once in ``warningInterval``: what is wrong with a receiver concerns thousands of items alike.
    private func warn(_ message: Logger.Message, _ metadata: Logger.Metadata) {
        guard !Task.isCancelled else { return }
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            if let last = state.warnedAt["\(message)"], now - last < Self.warningInterval { return false }
            state.warnedAt["\(message)"] = now
            return true
        }
        logger.log(level: isDue ? .warning : .debug, message, metadata: metadata)
    }
}
