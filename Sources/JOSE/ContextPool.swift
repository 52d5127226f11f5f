import COpenSSL
import Synchronization

/// Contexts of libcrypto for one purpose. They are dear to make, and good for one thread at a time: lent out one by one, a
/// few kept. Any thread.
final class ContextPool: Sendable {
    /// Contexts that are kept while nobody uses them, as many as threads that are likely to want one at once.
    static let keptMax = 16

    /// Their addresses. Nobody else has them.
    private let kept = Mutex<[UInt]>([])
    private let make: @Sendable () -> OpaquePointer?
    private let free: @Sendable (OpaquePointer) -> Void

    /// - Parameters:
    ///   - make: a context that is ready; nil if libcrypto refuses.
    ///   - free: the end of one.
    init(make: @escaping @Sendable () -> OpaquePointer?, free: @escaping @Sendable (OpaquePointer) -> Void) {
        self.make = make
        self.free = free
    }

    deinit {
        for address in kept.withLock({ $0 }) { OpaquePointer(bitPattern: address).map(free) }
    }

    /// Calls the body with a context, which is kept for the next one if the body says that all went well. False if it did
    /// not, or if there is no context; then the thread's error queue is empty.
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
