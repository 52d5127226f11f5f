import COpenSSL
import Synchronization

/// Contexts of libcrypto for one key and operation. They are dear to make, and good for one thread at a time: lent out one
/// by one, a few kept. Any thread.
final class ContextPool: Sendable {
    /// Contexts that are kept while nobody uses them, as many as threads that are likely to sign at once.
    static let keptMax = 16

    /// Addresses of `EVP_PKEY_CTX`, which nobody else has.
    private let kept = Mutex<[UInt]>([])
    private let key: KeyHandle
    private let prepare: @Sendable (OpaquePointer) -> Bool

    /// - Parameter prepare: makes a new context ready for the operation; false if libcrypto refuses.
    init(_ key: KeyHandle, prepare: @escaping @Sendable (OpaquePointer) -> Bool) {
        self.key = key
        self.prepare = prepare
    }

    deinit {
        for address in kept.withLock({ $0 }) { EVP_PKEY_CTX_free(OpaquePointer(bitPattern: address)) }
    }

    /// Calls the body with a context, which is kept for the next one if the body says that all went well. False if it did
    /// not, or if there is no context; then the thread's error queue is empty.
    func withContext(_ body: (OpaquePointer) -> Bool) -> Bool {
        guard let context = take() else { return false }
        guard body(context) else {
            EVP_PKEY_CTX_free(context)
            ERR_clear_error()
            return false
        }
        let isKept = kept.withLock { kept in
            guard kept.count < Self.keptMax else { return false }
            kept.append(UInt(bitPattern: context))
            return true
        }
        if !isKept { EVP_PKEY_CTX_free(context) }
        return true
    }

    private func take() -> OpaquePointer? {
        if let address = kept.withLock({ $0.popLast() }) { return OpaquePointer(bitPattern: address) }
        let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil)
        if let context, prepare(context) { return context }
        EVP_PKEY_CTX_free(context)
        ERR_clear_error()
        return nil
    }
}
