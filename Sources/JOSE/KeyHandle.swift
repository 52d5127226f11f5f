import COpenSSL

/// Owns one `EVP_PKEY` and frees it with the last reference.
///
/// `@unchecked Sendable`: the pointer is set once, the object behind it is never changed after the initializer, and
/// libcrypto lets several threads use a constant key concurrently (its internal caches are locked).
final class KeyHandle: @unchecked Sendable {
    /// The maximum length of a PEM text; a private RSA key of 8192 bits has about 6,500 bytes.
    static let pemBytesMax = 16 * 1024

    let pointer: OpaquePointer
    let type: KeyType

    /// Takes ownership of `pointer`, even if it throws.
    init(owning pointer: OpaquePointer) throws(KeyError) {
        do {
            type = try Self.type(of: pointer)
        } catch {
            EVP_PKEY_free(pointer)
            throw error
        }
        self.pointer = pointer
    }

    /// The key that `read` finds in a PEM text.
    convenience init(pem: String, read: (_ input: OpaquePointer) -> OpaquePointer?) throws(KeyError) {
        let bytes = Array(pem.utf8)
        guard bytes.count <= Self.pemBytesMax else { throw .malformed }
        // The BIO reads the bytes in place: they must not move until the key is read.
        let pointer = bytes.withUnsafeBytes { buffer -> OpaquePointer? in
            guard let input = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else { return nil }
            defer { BIO_free(input) }
            return read(input)
        }
        guard let pointer else {
            ERR_clear_error()
            throw .malformed
        }
        try self.init(owning: pointer)
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    private static func type(of pointer: OpaquePointer) throws(KeyError) -> KeyType {
        if EVP_PKEY_is_a(pointer, "RSA") == 1 {
            let bits = Int(EVP_PKEY_get_bits(pointer))
            guard 2048...8192 ~= bits else { throw .unacceptableSize(bits: bits) }
            return .rsa
        }
        guard EVP_PKEY_is_a(pointer, "EC") == 1 else { throw .unsupported }
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1, length <= name.count else {
            throw .unsupported
        }
        let group = String(decoding: name[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        switch group {
        case KeyType.p256.groupName: return .p256
        case KeyType.p384.groupName: return .p384
        default: throw .unsupported
        }
    }

    /// The PEM text that `write` writes; `write` returns 1 on success.
    func pem(write: (_ output: OpaquePointer) -> Int32) throws(KeyError) -> String {
        guard let output = BIO_new(BIO_s_mem()) else { throw .failure("allocate") }
        defer { BIO_free(output) }
        guard write(output) == 1 else { throw .failure("write a key") }
        var bytes = [UInt8](repeating: 0, count: Self.pemBytesMax)
        let count = BIO_read(output, &bytes, Int32(bytes.count))
        guard count > 0, Int(count) < bytes.count else { throw .failure("write a key") }
        return String(decoding: bytes[..<Int(count)], as: UTF8.self)
    }

    /// A number of the key as big-endian bytes, padded in front to `byteCount` if one is given.
    func number(_ parameter: String, byteCount: Int? = nil) throws(KeyError) -> [UInt8] {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(pointer, parameter, &number) == 1, let number else {
            throw .failure("read a number of the key")
        }
        defer { BN_free(number) }
        let count = byteCount ?? Int((BN_num_bits(number) + 7) / 8)
        var bytes = [UInt8](repeating: 0, count: count)
        guard BN_bn2binpad(number, &bytes, Int32(count)) == Int32(count) else {
            throw .failure("write a number of the key")
        }
        return bytes
    }
}

extension KeyError {
    /// An error of libcrypto. Empties the thread's error queue: otherwise the next TLS call on the same thread would report
    /// the old entries as its own errors.
    static func failure(_ operation: String) -> KeyError {
        ERR_clear_error()
        return .cryptography(operation: operation)
    }
}
