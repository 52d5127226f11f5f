import Glibc
import Synchronization

/// Lookups that block the thread that performs them, and the waiters for their results. Any thread.
///
/// A host is asked for once at a time, however many wait for it: one that nobody answers for takes one thread and no more.
/// Threads are started when there is something to ask, up to the maximum, and end when there is nothing.
final class LookUps: Sendable {
    private struct State {
        /// Who waits for which host, asked for or still to be.
        var waiting: [String: [CheckedContinuation<[String], Never>]] = [:]
        /// Hosts still to be asked for.
        var queue: [String] = []
        var threadCount = 0
    }
    private let state = Mutex(State())
    private let threadsMax: Int
    private let hostsMax: Int
    private let lookUp: @Sendable (String) -> [String]

    /// - Parameters:
    ///   - threadsMax: most threads at once.
    ///   - hostsMax: most hosts that are asked for or wait to be; past it nobody can tell.
    ///   - lookUp: asks, and may block.
    init(threadsMax: Int, hostsMax: Int, lookUp: @escaping @Sendable (String) -> [String]) {
        self.threadsMax = threadsMax
        self.hostsMax = hostsMax
        self.lookUp = lookUp
    }

    /// Hosts that are asked for or wait to be.
    var hostCount: Int { state.withLock { $0.waiting.count } }

    private enum Step { case wait, refuse, startThread }

    /// What the question gives; empty if nobody can tell.
    func addresses(of host: String) async -> [String] {
        await withCheckedContinuation { continuation in
            let step = state.withLock { state -> Step in
                if state.waiting[host] != nil {
                    state.waiting[host]?.append(continuation)
                    return .wait
                }
                guard state.waiting.count < hostsMax else { return .refuse }
                state.waiting[host] = [continuation]
                state.queue.append(host)
                guard state.threadCount < threadsMax else { return .wait }
                state.threadCount += 1
                return .startThread
            }
            switch step {
            case .wait: break
            case .refuse: continuation.resume(returning: [])
            case .startThread: startThread()
            }
        }
    }

    private func startThread() {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let failure = pthread_create(
            &thread,
            &attributes,
            { context in
                if let context { Unmanaged<LookUps>.fromOpaque(context).takeRetainedValue().work() }
                return nil
            },
            context.toOpaque()
        )
        guard failure != 0 else { return }
        context.release()
        threadFailed()
    }

    /// Without any thread nobody would ask; then nobody can tell. Else the others ask, one after the other.
    private func threadFailed() {
        let given = state.withLock { state -> [CheckedContinuation<[String], Never>] in
            state.threadCount -= 1
            guard state.threadCount == 0 else { return [] }
            defer {
                state.waiting = [:]
                state.queue = []
            }
            return state.waiting.values.flatMap { $0 }
        }
        for continuation in given { continuation.resume(returning: []) }
    }

    /// What a thread does.
    private func work() {
        while let host = next() {
            let answer = lookUp(host)
            let waiting = state.withLock { $0.waiting.removeValue(forKey: host) } ?? []
            for continuation in waiting { continuation.resume(returning: answer) }
        }
    }

    private func next() -> String? {
        state.withLock { state in
            guard !state.queue.isEmpty else {
                state.threadCount -= 1
                return nil
            }
            return state.queue.removeFirst()
        }
    }
}
