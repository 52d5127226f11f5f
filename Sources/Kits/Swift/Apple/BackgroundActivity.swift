#if canImport(Security)
import Dispatch
import Foundation

/// Work that the system lets an app end before it suspends it. The system kills an app that it suspends while the app holds a lock in a
/// shared container (0xdead10cc).
enum BackgroundActivity {
    #if os(macOS)
    static func run<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await body()
    }
    #else
    /// Does `body` when the system has granted time for it, and cancels it when that ends.
    ///
    /// - Throws: ``StoreFailure`` with `EAGAIN` if the system grants no time, or not enough; what `body` throws; or
    ///   `CancellationError`.
    static func run<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let grant = ActivityGrant()
        ProcessInfo.processInfo.performExpiringActivity(withReason: "Vestibule session") { isExpired in
            grant.report(isExpired: isExpired)
        }
        defer { grant.finish() }
        try await grant.wait()
        let work = Task { try await body() }
        grant.atExpiry { work.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                work.cancel()
            }
        } catch let error as CancellationError {
            try Task.checkCancellation()
            throw grant.hasExpired ? StoreFailure(EAGAIN) : error
        }
    }
    #endif
}

#if !os(macOS)
/// What the system says of an activity: its block is called with `false`, and may be called again with `true` on another thread
/// before it has returned; or once with `true`.
private final class ActivityGrant: Sendable {
    private enum State {
        case asked
        case waited(CheckedContinuation<Void, any Error>)
        case granted
        case refused
    }

    private let lock = NSLock()
    private let finished = DispatchSemaphore(value: 0)
    // Guarded by `lock`, as what follows.
    nonisolated(unsafe) private var state = State.asked
    nonisolated(unsafe) private var isOver = false
    nonisolated(unsafe) private var expiry: (@Sendable () -> Void)?

    var hasExpired: Bool { lock.withLock { isOver } }

    /// The block. It returns when the work has ended and the lock is free.
    func report(isExpired: Bool) {
        let (waiter, expiry) = lock.withLock { () -> (CheckedContinuation<Void, any Error>?, (@Sendable () -> Void)?) in
            if isExpired { isOver = true }
            var waiter: CheckedContinuation<Void, any Error>?
            switch state {
            case .asked: state = isExpired ? .refused : .granted
            case .waited(let continuation):
                state = isExpired ? .refused : .granted
                waiter = continuation
            case .granted, .refused: break
            }
            return (waiter, isExpired ? self.expiry : nil)
        }
        waiter?.resume(with: isExpired ? .failure(StoreFailure(EAGAIN)) : .success(()))
        expiry?()
        finished.wait()
        // For the other call of the block.
        finished.signal()
    }

    /// Waits for the system's first word, which comes soon.
    func wait() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let known = lock.withLock { () -> Result<Void, any Error>? in
                switch state {
                case .granted: return .success(())
                case .refused: return .failure(StoreFailure(EAGAIN))
                case .asked, .waited:
                    state = .waited(continuation)
                    return nil
                }
            }
            if let known { continuation.resume(with: known) }
        }
    }

    /// Does something when the time ends; at once if it has ended.
    func atExpiry(_ body: @escaping @Sendable () -> Void) {
        let isOver = lock.withLock {
            expiry = body
            return self.isOver
        }
        if isOver { body() }
    }

    /// The work has ended, and holds nothing.
    func finish() { finished.signal() }
}
#endif
#endif
