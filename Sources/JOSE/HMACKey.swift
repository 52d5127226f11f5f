import COpenSSL

/// A key for HMAC-SHA256 that is set up once: a code of a short text then costs half as much as with
/// ``SHA256/authenticationCode(of:key:)``. Any thread.
public final class HMACKey: Sendable {
    private let contexts: ContextPool

    /// - Parameter bytes: the key.
    public init(_ bytes: [UInt8]) {
        contexts = ContextPool(
            make: {
                guard let context = SHA256.codeContext() else { return nil }
                if EVP_MAC_init(context, bytes, bytes.count, nil) == 1 { return context }
                EVP_MAC_CTX_free(context)
                return nil
            },
            free: { EVP_MAC_CTX_free($0) }
        )
    }

    /// The code of a message.
    public func code(of message: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { code, count in
            let nothing = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
            message.withUnsafeBufferPointer { write($0, nothing, nothing, into: code) }
            count = SHA256.byteCount
        }
    }

    /// Writes the code of three texts one after the other into `SHA256.byteCount` bytes. It fails only if libcrypto has no memory or
    /// no SHA-256. A wrong code would be a security hole, so the process then stops.
    func write(
        _ first: UnsafeBufferPointer<UInt8>,
        _ second: UnsafeBufferPointer<UInt8>,
        _ third: UnsafeBufferPointer<UInt8>,
        into code: UnsafeMutableBufferPointer<UInt8>
    ) {
        let isMade = contexts.withContext { context in
            var length = 0
            // Without a key argument it restarts with its current key.
            return EVP_MAC_init(context, nil, 0, nil) == 1
                && EVP_MAC_update(context, first.baseAddress, first.count) == 1
                && EVP_MAC_update(context, second.baseAddress, second.count) == 1
                && EVP_MAC_update(context, third.baseAddress, third.count) == 1
                && EVP_MAC_final(context, code.baseAddress, &length, code.count) == 1 && length == SHA256.byteCount
        }
        precondition(isMade, "libcrypto could not compute an HMAC")
    }
}
