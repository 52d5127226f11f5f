import Dispatch
import Glibc
import Synchronization

/// SIGTERM and SIGINT as something to wait for: the first asks for a graceful stop, a second one ends the process now.
///
/// One object a process, kept until its end. A closed pipe or socket (SIGPIPE) is ignored from then on: writes report it.
public final class ShutdownSignals: Sendable {
    private struct State {
        var firstTime: ContinuousClock.Instant?
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextID = 0
    }
    private let state = Mutex(State())
    private let sameWithin: Duration
    // Sound because dispatch sources may be used from any thread, though their type does not say so.
    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]

    /// Takes over the signals.
    ///
    /// - Parameter onSecond: runs at the second signal, on a thread of its own; ends the process unless a test says else.
    public convenience init(onSecond: @escaping @Sendable () -> Void = { _exit(130) }) {
        self.init(numbers: [SIGTERM, SIGINT], sameWithin: .milliseconds(500), onSecond: onSecond)
    }

    /// Takes over those signals. One that comes within `sameWithin` of the first counts as the same: a signal to a
    /// process group reaches us once by itself and once more from a parent, such as make, that hands it on.
    init(numbers: [Int32], sameWithin: Duration, onSecond: @escaping @Sendable () -> Void) {
        self.sameWithin = sameWithin
        signal(SIGPIPE, SIG_IGN)
        let queue = DispatchQueue(label: "vestibule.signals")
        sources = numbers.map { number in
            DispatchSource.makeSignalSource(signal: number, queue: queue)
        }
        // Dispatch takes a signal over on its own thread, a moment later. Until then its default action stands: a signal
        // that comes so early ends the process, and none is lost afterwards.
        let registrations = DispatchGroup()
        for source in sources {
            registrations.enter()
            source.setRegistrationHandler { registrations.leave() }
            source.setEventHandler { [weak self] in self?.received(onSecond: onSecond) }
            source.resume()
        }
        registrations.wait()
    }

    // The signals stay ignored: putting the default back would race with another object that takes them over.
    deinit { for source in sources { source.cancel() } }

    /// Whether a signal has come.
    public var wasReceived: Bool { state.withLock { $0.firstTime != nil } }

    /// Returns when the first signal has come, or the task is cancelled.
    public func first() async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.firstTime != nil || Task.isCancelled { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }

    private func received(onSecond: @Sendable () -> Void) {
        let now = ContinuousClock.now
        let (isSecond, waiters) = state.withLock { state in
            defer { state.waiters = [:] }
            guard let firstTime = state.firstTime else {
                state.firstTime = now
                return (false, Array(state.waiters.values))
            }
            return (now - firstTime >= sameWithin, [])
        }
        for waiter in waiters { waiter.resume() }
        if isSecond { onSecond() }
    }
}
