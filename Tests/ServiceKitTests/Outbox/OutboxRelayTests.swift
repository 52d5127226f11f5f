import Logging
import ServiceKit
import Synchronization
import Testing

/// An outbox in memory that behaves as the protocol says.
private final class MemoryOutbox: OutboxStore {
    struct State {
        var events: [Int] = []
        var setAside: [Int: String] = [:]
        var isBusy = false
        var isBroken = false
        var batchCount = 0
    }
    struct Broken: Error {}
    let state: Mutex<State>

    init(_ events: [Int]) { state = Mutex(State(events: events)) }

    func relayBatch(
        limit: Int,
        deliver: @Sendable ([Int]) async -> OutboxVerdict
    ) async throws -> OutboxBatch {
        let now = state.withLock { state in
            state.batchCount += 1
            return state
        }
        if now.isBroken { throw Broken() }
        if now.isBusy { return .busy }
        if now.events.isEmpty { return .empty }
        let batch = Array(now.events.prefix(limit))
        let verdict = await deliver(batch)
        state.withLock { state in
            state.events.removeFirst(verdict.handledCount)
            for (index, reason) in verdict.rejected { state.setAside[batch[index]] = reason }
        }
        return .handled(read: batch.count, delivered: verdict.handledCount)
    }

    func backlog() async throws -> OutboxBacklog {
        let now = state.withLock { $0 }
        if now.isBroken { throw Broken() }
        return OutboxBacklog(eventCount: now.events.count, oldestAge: .seconds(now.events.count))
    }
}

@Suite("Outbox relay")
struct OutboxRelayTests {
    private struct Unreachable: Error {}
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func configuration(poll: Duration = .seconds(60)) -> OutboxRelay<MemoryOutbox>.Configuration {
        var configuration = OutboxRelay<MemoryOutbox>.Configuration()
        configuration.batchEventsMax = 3
        configuration.pollInterval = poll
        configuration.backoff = Backoff(first: .milliseconds(1), max: .milliseconds(4))
        return configuration
    }

    private func running(
        _ relay: OutboxRelay<MemoryOutbox>,
        _ body: () async throws -> Void
    ) async throws {
        let task = Task { await relay.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        task.cancel()
        await task.value
        try result.get()
    }

    @Test("delivers everything in order, batch after batch, without waiting for the next poll")
    func order() async throws {
        let outbox = MemoryOutbox(Array(0..<10))
        let delivered = Mutex<[[Int]]>([])
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { events in
            delivered.withLock { $0.append(events) }
        }
        try await running(relay) { try await until { outbox.state.withLock { $0.events.isEmpty } } }
        #expect(delivered.withLock { $0 } == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]])
    }

    @Test("a failed delivery is tried again until it succeeds; nothing overtakes")
    func retry() async throws {
        let outbox = MemoryOutbox(Array(0..<4))
        let attempts = Mutex<[[Int]]>([])
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { events in
            let count = attempts.withLock { attempts in
                attempts.append(events)
                return attempts.count
            }
            if count < 4 { throw Unreachable() }
        }
        try await running(relay) { try await until { outbox.state.withLock { $0.events.isEmpty } } }
        #expect(attempts.withLock { $0 } == [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [3]])
    }

    @Test("an event that the receiver will never take is set aside and holds up no other")
    func rejection() async throws {
        let outbox = MemoryOutbox(Array(0..<5))
        let delivered = Mutex<[Int]>([])
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { events in
            if events.contains(1) || events.contains(4) { throw OutboxRejection(reason: "BAD") }
            delivered.withLock { $0 += events }
        }
        try await running(relay) { try await until { outbox.state.withLock { $0.events.isEmpty } } }
        #expect(delivered.withLock { $0 } == [0, 2, 3])
        #expect(outbox.state.withLock { $0.setAside } == [1: "BAD", 4: "BAD"])
    }

    private func told(_ metrics: OutboxMetrics) -> [Substring] {
        var text = MetricsText()
        metrics.write(to: &text)
        return text.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    @Test("metrics tell what waits, what was delivered, set aside and failed")
    func metrics() async throws {
        let outbox = MemoryOutbox(Array(0..<5))
        let attempts = Mutex(0)
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { events in
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            if attempt == 1 { throw Unreachable() }
            if events.contains(4) { throw OutboxRejection(reason: "BAD") }
        }
        #expect(told(relay.metrics).count == 3, "what waits is not told before it is known")
        let watch = Task { await relay.metrics.watch(outbox, logger: logger) }
        try await until { told(relay.metrics).contains("vestibule_outbox_depth 5") }
        #expect(told(relay.metrics).contains("vestibule_outbox_oldest_age_seconds 5"))
        watch.cancel()
        try await running(relay) { try await until { outbox.state.withLock { $0.events.isEmpty } } }
        #expect(
            told(relay.metrics).suffix(3) == [
                "vestibule_outbox_delivered_total 4", "vestibule_outbox_failures_total 1",
                "vestibule_outbox_set_aside_total 1",
            ]
        )
        await watch.value
    }

    @Test("a failure after a rejection keeps what came before it")
    func rejectionThenFailure() async throws {
        let outbox = MemoryOutbox(Array(0..<3))
        let isUp = Mutex(false)
        let delivered = Mutex<[Int]>([])
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { events in
            if events.contains(0) { throw OutboxRejection(reason: "BAD") }
            if events == [2], !isUp.withLock({ $0 }) { throw Unreachable() }
            delivered.withLock { $0 += events }
        }
        try await running(relay) {
            try await until { outbox.state.withLock { $0.events == [2] } }
            #expect(outbox.state.withLock { $0.setAside } == [0: "BAD"])
            isUp.withLock { $0 = true }
            try await until { outbox.state.withLock { $0.events.isEmpty } }
        }
        #expect(delivered.withLock { $0 } == [1, 2])
    }

    @Test("a nudge makes it prompt, polling makes it certain")
    func nudgeAndPoll() async throws {
        let outbox = MemoryOutbox([])
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { _ in }
        try await running(relay) {
            try await until { outbox.state.withLock { $0.batchCount == 1 } }
            outbox.state.withLock { $0.events = [1] }
            relay.nudge()
            try await until { outbox.state.withLock { $0.events.isEmpty } }
        }
        let polled = MemoryOutbox([])
        let poller = OutboxRelay(
            store: polled,
            configuration: configuration(poll: .milliseconds(2)),
            logger: logger
        ) { _ in }
        try await running(poller) {
            try await until { polled.state.withLock { $0.batchCount > 0 } }
            polled.state.withLock { $0.events = [1] }
            try await until { polled.state.withLock { $0.events.isEmpty } }
        }
    }

    @Test("leaves an outbox alone while another process relays it, and takes over when that is gone")
    func busy() async throws {
        let outbox = MemoryOutbox([1])
        outbox.state.withLock { $0.isBusy = true }
        let relay = OutboxRelay(
            store: outbox,
            configuration: configuration(poll: .milliseconds(2)),
            logger: logger
        ) { _ in }
        try await running(relay) {
            try await until { outbox.state.withLock { $0.batchCount > 3 } }
            #expect(outbox.state.withLock { $0.events } == [1])
            outbox.state.withLock { $0.isBusy = false }
            try await until { outbox.state.withLock { $0.events.isEmpty } }
        }
    }

    @Test("survives a store that fails")
    func brokenStore() async throws {
        let outbox = MemoryOutbox([1])
        outbox.state.withLock { $0.isBroken = true }
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { _ in }
        try await running(relay) {
            try await until { outbox.state.withLock { $0.batchCount > 3 } }
            outbox.state.withLock { $0.isBroken = false }
            try await until { outbox.state.withLock { $0.events.isEmpty } }
        }
    }

    @Test("the wait doubles up to its maximum, spread by the jitter")
    func backoff() {
        let backoff = Backoff(first: .milliseconds(100), max: .seconds(30))
        #expect(backoff.delay(attempt: 0, random: 0) == .milliseconds(10))
        #expect(backoff.delay(attempt: 3, random: 0) == .milliseconds(80))
        #expect(abs(backoff.delay(attempt: 1, random: 0.5) / .milliseconds(1) - 110) < 0.001)
        #expect(backoff.delay(attempt: 1_000_000, random: 0) == .seconds(3))
        #expect(backoff.delay(attempt: -1, random: 0) == .milliseconds(10))
    }
}
