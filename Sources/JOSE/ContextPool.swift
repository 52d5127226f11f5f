import COpenSSL
import Synchronization

/// A pool of libcrypto's contexts for one purpose. They are expensive to make, and one thread at a time may use one, so the pool
/// lends them, and keeps a few. Any thread.
final class ContextPool: Sendable {
    /// The maximum of unused contexts, about the number of threads that need one at the same time.
    static let keptMax = 16

    /// The addresses of unused contexts.
    private let kept = Mutex<[UInt]>([])
    private let make: @Sendable () -> OpaquePointer?
    private let free: @Sendable (OpaquePointer) -> Void

    /// - Parameters:
    ///   - make: makes a context; returns nil if libcrypto fails.
    ///   - free: frees a context.
    init(make: @escaping @Sendable () -> OpaquePointer?, free: @escaping @Sendable (OpaquePointer) -> Void) {
        self.make = make
        self.free = free
    }

    deinit {
        for address in kept.withLock({ $0 }) { OpaquePointer(bitPattern: address).map(free) }
    }

    /// Calls the body with a context, and keeps the context if the body returns true. Returns false if the body does, or if
    /// no context could be made; then the thread's error queue is empty.
    func withContext(_ body: (OpaquePointer) -> Bool) -> Bool {
        guard let context = kept.withLock({ $0.popLast() }).flatMap({ OpaquePointer(bitPattern: $0) }) ?? make() else {
            ERR_clear_error()
            return false
        }
        guard body(context) else {
            free(context)
            ERR_clear_error()
            return false
        }
        let isKept = kept.withLock { kept in
            guard kept.count < Self.keptMax else { return false }
            kept.append(UInt(bitPattern: context))
            return true
        }
        if !isKept { free(context) }
        return true
    }
}
