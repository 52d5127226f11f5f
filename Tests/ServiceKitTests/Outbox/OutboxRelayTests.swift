import Logging
import RPC
import RPCTransport
import ServiceKit
import ServiceLifecycle
import Synchronization
import TestWaits
import Testing

/// An event that is a number; nothing but itself is in order with it.
private struct Numbered: OutboxEvent, ExpressibleByIntegerLiteral {
    let number: Int
    var failureCount = 0
    var trace: TraceContext?

    init(_ number: Int) { self.number = number }
    init(integerLiteral number: Int) { self.init(number) }
}

/// An outbox in memory that behaves as the protocol says, but that a wait is over when it is looked at the next time.
private final class MemoryOutbox: OutboxStore {
    struct State {
        var events: [Int] = []
        var failures: [Int: Int] = [:]
        var waits: [Duration] = []
        var resting: Set<Int> = []
        var setAside: [Int: String] = [:]
        var isBusy = false
        var isBroken = false
        var breaksAfterDelivery = false
        var batchCount = 0
    }
    struct Broken: Error {}
    let state: Mutex<State>

    init(_ events: [Int]) { state = Mutex(State(events: events)) }

    func relayBatch(
        limit: Int,
        deliver: @Sendable ([Numbered]) async -> OutboxVerdict
    ) async throws -> OutboxBatch {
        let now = state.withLock { state in
            state.batchCount += 1
            defer { state.resting = [] }
            return state
        }
        if now.isBroken { throw Broken() }
        if now.isBusy { return .busy }
        let due = now.events.filter { !now.resting.contains($0) }
        guard let first = due.first else { return .empty }
        let hasFailed = { now.failures[$0] != nil }
        let numbers = hasFailed(first) ? [first] : Array(due.prefix { !hasFailed($0) }.prefix(limit))
        let verdict = await deliver(
            numbers.map { number in
                var event = Numbered(number)
                event.failureCount = now.failures[number] ?? 0
                return event
            }
        )
        if now.breaksAfterDelivery { throw Broken() }
        state.withLock { state in
            switch verdict {
            case .kept: break
            case .delivered: state.events.removeAll { numbers.contains($0) }
            case .setAside(let reason):
                state.events.removeAll { numbers.contains($0) }
                state.setAside[numbers[0]] = reason
            case .postponed(let wait, _):
                state.failures[numbers[0], default: 0] += 1
                state.waits.append(wait)
                state.resting.insert(numbers[0])
            }
        }
        return .handled(eventCount: numbers.count)
    }

    func backlog() async throws -> OutboxBacklog {
        let now = state.withLock { $0 }
        if now.isBroken { throw Broken() }
        return OutboxBacklog(eventCount: now.events.count, oldestAge: .seconds(now.events.count), setAsideCount: 7)
    }
}

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
        let task = Task { try await relay.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        task.cancel()
        try await task.value
        try result.get()
    }

    @Test func `Delivers everything in order, batch after batch, without waiting for the next poll`() async throws {
        let outbox = MemoryOutbox(Array(0..<10))
        let delivered = Mutex<[[Int]]>([])
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { events in
            delivered.withLock { $0.append(events.map(\.number)) }
        }
        try await running(relay) { try await eventually { outbox.state.withLock { $0.events.isEmpty } } }
        #expect(delivered.withLock { $0 } == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]])
    }

    @Test func `A failed delivery is tried again until it succeeds; nothing overtakes`() async throws {
        let outbox = MemoryOutbox(Array(0..<4))
        let attempts = Mutex<[[Int]]>([])
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { events in
            let count = attempts.withLock { attempts in
                attempts.append(events.map(\.number))
                return attempts.count
            }
            if count < 4 { throw Unreachable() }
        }
        try await running(relay) { try await eventually { outbox.state.withLock { $0.events.isEmpty } } }
        #expect(attempts.withLock { $0 } == [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [3]])
    }

    @Test func `An event that the receiver will never take is set aside and holds up no other`() async throws {
        let outbox = MemoryOutbox(Array(0..<5))
        let delivered = Mutex<[Int]>([])
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { events in
            let numbers = events.map(\.number)
            if numbers.contains(1) || numbers.contains(4) { throw OutboxRejection(reason: "BAD") }
            delivered.withLock { $0 += numbers }
        }
        try await running(relay) { try await eventually { outbox.state.withLock { $0.events.isEmpty } } }
        #expect(delivered.withLock { $0 } == [0, 2, 3])
        #expect(outbox.state.withLock { $0.setAside } == [1: "BAD", 4: "BAD"])
    }

    private func told(_ metrics: OutboxMetrics) -> [Substring] {
        var text = MetricsText()
        metrics.write(to: &text)
        return text.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    @Test func `Metrics tell what waits, what was delivered, set aside and failed`() async throws {
        let outbox = MemoryOutbox(Array(0..<5))
        let attempts = Mutex(0)
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { events in
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            if attempt == 1 { throw Unreachable() }
            if events.contains(where: { $0.number == 4 }) { throw OutboxRejection(reason: "BAD") }
        }
        #expect(told(relay.metrics).count == 3, "what waits is not told before it is known")
        let watch = Task { await relay.metrics.watch(outbox, logger: logger) }
        try await eventually { told(relay.metrics).contains("vestibule_outbox_depth 5") }
        #expect(told(relay.metrics).contains("vestibule_outbox_oldest_age_seconds 5"))
        #expect(told(relay.metrics).contains("vestibule_outbox_aside 7"))
        watch.cancel()
        try await running(relay) { try await eventually { outbox.state.withLock { $0.events.isEmpty } } }
        #expect(
            told(relay.metrics).suffix(3) == [
                "vestibule_outbox_delivered_total 4", "vestibule_outbox_failures_total 1",
                "vestibule_outbox_set_aside_total 1",
            ]
        )
        await watch.value
    }

    @Test func `A failure after a rejection keeps what came before it`() async throws {
        let outbox = MemoryOutbox(Array(0..<3))
        let isUp = Mutex(false)
        let delivered = Mutex<[Int]>([])
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { events in
            let numbers = events.map(\.number)
            if numbers.contains(0) { throw OutboxRejection(reason: "BAD") }
            if numbers == [2], !isUp.withLock({ $0 }) { throw Unreachable() }
            delivered.withLock { $0 += numbers }
        }
        try await running(relay) {
            try await eventually { outbox.state.withLock { $0.events == [2] } }
            #expect(outbox.state.withLock { $0.setAside } == [0: "BAD"])
            isUp.withLock { $0 = true }
            try await eventually { outbox.state.withLock { $0.events.isEmpty } }
        }
        #expect(delivered.withLock { $0 } == [1, 2])
    }

    private struct Bug: Error {}

    @Test
    func `An event that the receiver fails on waits longer each time, alone, and is set aside in the end`() async throws
    {
        let outbox = MemoryOutbox(Array(0..<8))
        let delivered = Mutex<[Int]>([])
        var configuration = configuration(poll: .milliseconds(1))
        configuration.batchEventsMax = 8
        configuration.triesMax = 5
        let relay = OutboxRelay(store: outbox, configuration: configuration, logger: logger, random: { 1 }) { events in
            let numbers = events.map(\.number)
            if numbers.contains(3) { throw OutboxSetback(reason: "INTERNAL", cause: Bug()) }
            delivered.withLock { $0 += numbers }
        }
        try await running(relay) { try await eventually { outbox.state.withLock { $0.events.isEmpty } } }
        #expect(delivered.withLock { $0 } == [0, 1, 2, 4, 5, 6, 7])
        #expect(outbox.state.withLock { $0.setAside } == [3: "INTERNAL 5 times"])
        #expect(outbox.state.withLock { $0.waits } == [1, 2, 4, 8].map { Duration.seconds($0) })
        #expect(told(relay.metrics).contains("vestibule_outbox_set_aside_total 1"))
    }

    @Test
    func `An event on which a receiver takes too long waits longer each time, and is never set aside`() async throws {
        let outbox = MemoryOutbox([3])
        var configuration = configuration(poll: .milliseconds(1))
        configuration.triesMax = 2
        let relay = OutboxRelay(store: outbox, configuration: configuration, logger: logger, random: { 1 }) { _ in
            throw OutboxSetback(reason: "DEADLINE_EXCEEDED", cause: Bug(), isEventAtFault: false)
        }
        try await running(relay) { try await eventually { outbox.state.withLock { $0.waits.count > 4 } } }
        #expect(outbox.state.withLock { $0.setAside.isEmpty && $0.events == [3] })
    }

    @Test func `A receiver that isn't there costs no event a try`() async throws {
        let outbox = MemoryOutbox([1])
        let attempts = Mutex(0)
        var configuration = configuration(poll: .milliseconds(1))
        configuration.triesMax = 2
        let relay = OutboxRelay(store: outbox, configuration: configuration, logger: logger) { _ in
            attempts.withLock { $0 += 1 }
            throw Unreachable()
        }
        try await running(relay) { try await eventually { attempts.withLock { $0 } > 5 } }
        #expect(outbox.state.withLock { $0.events } == [1])
        #expect(outbox.state.withLock { $0.failures.isEmpty && $0.setAside.isEmpty })
    }

    @Test func `What isn't committed isn't counted`() async throws {
        let outbox = MemoryOutbox([1])
        outbox.state.withLock { $0.breaksAfterDelivery = true }
        let attempts = Mutex(0)
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { _ in
            attempts.withLock { $0 += 1 }
            throw OutboxRejection(reason: "BAD")
        }
        try await running(relay) {
            try await eventually { attempts.withLock { $0 } > 3 }
            #expect(told(relay.metrics).contains("vestibule_outbox_set_aside_total 0"))
            outbox.state.withLock { $0.breaksAfterDelivery = false }
            try await eventually { outbox.state.withLock { $0.events.isEmpty } }
        }
        #expect(told(relay.metrics).contains("vestibule_outbox_set_aside_total 1"))
    }

    @Test func `A nudge makes it prompt, polling makes it certain`() async throws {
        let outbox = MemoryOutbox([])
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { _ in }
        try await running(relay) {
            try await eventually { outbox.state.withLock { $0.batchCount == 1 } }
            outbox.state.withLock { $0.events = [1] }
            relay.nudge()
            try await eventually { outbox.state.withLock { $0.events.isEmpty } }
        }
        let polled = MemoryOutbox([])
        let poller = OutboxRelay(
            store: polled,
            configuration: configuration(poll: .milliseconds(2)),
            logger: logger
        ) { _ in }
        try await running(poller) {
            try await eventually { polled.state.withLock { $0.batchCount > 0 } }
            polled.state.withLock { $0.events = [1] }
            try await eventually { polled.state.withLock { $0.events.isEmpty } }
        }
    }

    @Test
    func `Leaves an outbox alone while another process relays it, and takes over when that is gone`() async throws {
        let outbox = MemoryOutbox([1])
        outbox.state.withLock { $0.isBusy = true }
        let relay = OutboxRelay(
            store: outbox,
            configuration: configuration(poll: .milliseconds(2)),
            logger: logger
        ) { _ in }
        try await running(relay) {
            try await eventually { outbox.state.withLock { $0.batchCount > 3 } }
            #expect(outbox.state.withLock { $0.events } == [1])
            outbox.state.withLock { $0.isBusy = false }
            try await eventually { outbox.state.withLock { $0.events.isEmpty } }
        }
    }

    @Test func `Survives a store that fails`() async throws {
        let outbox = MemoryOutbox([1])
        outbox.state.withLock { $0.isBroken = true }
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { _ in }
        try await running(relay) {
            try await eventually { outbox.state.withLock { $0.batchCount > 3 } }
            outbox.state.withLock { $0.isBroken = false }
            try await eventually { outbox.state.withLock { $0.events.isEmpty } }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A graceful shutdown ends a rest at once, and lets a delivery under way end`() async throws {
        let outbox = MemoryOutbox(Array(0..<5))
        let (deliveries, delivery) = AsyncStream.makeStream(of: Void.self)
        let delivered = Mutex(0)
        let relay = OutboxRelay(store: outbox, configuration: configuration(), logger: logger) { events in
            delivery.yield()
            while !Task.isShuttingDownGracefully { try await Task.sleep(for: .milliseconds(5)) }
            delivered.withLock { $0 += events.count }
        }
        let services = ServiceGroup(services: [relay], logger: logger)
        let running = Task { try await services.run() }
        for await _ in deliveries { break }
        await services.triggerGracefulShutdown()
        try await running.value
        #expect(delivered.withLock { $0 } == 3, "the batch under way, and no other")
        #expect(outbox.state.withLock { $0.events.count } == 2)

        let empty = MemoryOutbox([])
        let resting = OutboxRelay(store: empty, configuration: configuration(), logger: logger) { _ in }
        let others = ServiceGroup(services: [resting], logger: logger)
        let rest = Task { try await others.run() }
        try await eventually { empty.state.withLock { $0.batchCount > 0 } }
        await others.triggerGracefulShutdown()
        try await rest.value  // polls each minute
    }

    @Test func `A relay runs once`() async throws {
        let relay = OutboxRelay(store: MemoryOutbox([]), configuration: configuration(), logger: logger) { _ in }
        try await running(relay) {}
        await #expect(throws: TransportError.alreadyRun) { try await relay.run() }
    }
}
