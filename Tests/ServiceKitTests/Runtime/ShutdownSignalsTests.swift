import Glibc
import Synchronization
import TestWaits
import Testing

@testable import ServiceKit

// Signals that nothing else in the test process takes stand in for SIGTERM and SIGINT.
@Suite(.serialized)
struct ShutdownSignalsTests {
    @Test func `The first signal ends the wait, the second calls for a harsh end`() async throws {
        let harsh = Mutex(0)
        let signals = ShutdownSignals(
            numbers: [SIGUSR1, SIGUSR2],
            sameWithin: .zero,
            onSecond: { harsh.withLock { $0 += 1 } }
        )
        #expect(!signals.wasReceived)
        kill(getpid(), SIGUSR1)
        await signals.first()
        #expect(signals.wasReceived)
        #expect(harsh.withLock { $0 } == 0)
        await signals.first()
        kill(getpid(), SIGUSR2)
        try await eventually { harsh.withLock { $0 } == 1 }
    }

    @Test func `A signal that comes twice at once counts as one`() async throws {
        let harsh = Mutex(0)
        let signals = ShutdownSignals(
            numbers: [SIGUSR1, SIGUSR2],
            sameWithin: .seconds(60),
            onSecond: { harsh.withLock { $0 += 1 } }
        )
        kill(getpid(), SIGUSR1)
        await signals.first()
        kill(getpid(), SIGUSR2)
        try await Task.sleep(for: .milliseconds(50))
        #expect(harsh.withLock { $0 } == 0)
    }

    @Test func `A cancelled wait ends without a signal`() async {
        let signals = ShutdownSignals(numbers: [SIGUSR1], sameWithin: .zero, onSecond: {})
        let task = Task { await signals.first() }
        task.cancel()
        await task.value
        #expect(!signals.wasReceived)
    }
}
