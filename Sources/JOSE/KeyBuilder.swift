import COpenSSL

/// Builds a public `EVP_PKEY` from named numbers.
struct KeyBuilder: ~Copyable {
    private let builder: OpaquePointer
    /// Keeps the numbers alive until the parameters are made.
    private var numbers: [OpaquePointer] = []
    private var buffers: [UnsafeMutablePointer<UInt8>] = []

    private init() throws(KeyError) {
        guard let builder = OSSL_PARAM_BLD_new() else { throw .failure("allocate") }
        self.builder = builder
    }

    deinit {
        for number in numbers { BN_free(number) }
        for buffer in buffers { buffer.deallocate() }
        OSSL_PARAM_BLD_free(builder)
    }

    /// Makes a key of the parameters that `fill` pushes; the caller owns it.
    static func makePublicKey(
        type: String,
        _ fill: (inout KeyBuilder) throws(KeyError) -> Void
    ) throws(KeyError) -> OpaquePointer {
        var builder = try KeyBuilder()
        try fill(&builder)
        guard let parameters = OSSL_PARAM_BLD_to_param(builder.builder) else { throw .failure("make parameters") }
        defer { OSSL_PARAM_free(parameters) }
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { throw .failure("allocate") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1,
            EVP_PKEY_fromdata(context, &key, publicKeySelection, parameters) == 1,
            let key
        else { throw .failure("build a public key") }
        return key
    }

    mutating func push(_ name: String, number bytes: [UInt8]) throws(KeyError) {
        guard let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else { throw .failure("allocate") }
        numbers.append(number)
        guard OSSL_PARAM_BLD_push_BN(builder, keep(name), number) == 1 else { throw .failure("push a number") }
    }

    mutating func push(_ name: String, text: String) throws(KeyError) {
        guard OSSL_PARAM_BLD_push_utf8_string(builder, keep(name), keep(text), text.utf8.count) == 1 else {
            throw .failure("push a text")
        }
    }

    mutating func push(_ name: String, bytes: [UInt8]) throws(KeyError) {
        guard OSSL_PARAM_BLD_push_octet_string(builder, keep(name), keep(bytes), bytes.count) == 1 else {
            throw .failure("push bytes")
        }
    }

    /// A copy with a stable address: libcrypto keeps the addresses of names and values until the parameters are made, and
    /// those of a `String` or of an array passed as a pointer may change.
    private mutating func keep(_ text: String) -> UnsafePointer<CChar> {
        let bytes = Array(text.utf8) + [0]
        return UnsafeRawPointer(keep(bytes)).assumingMemoryBound(to: CChar.self)
    }

    private mutating func keep(_ bytes: [UInt8]) -> UnsafeMutablePointer<UInt8> {
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
        copy.initialize(from: bytes, count: bytes.count)
        buffers.append(copy)
        return copy
    }

    /// `EVP_PKEY_PUBLIC_KEY`: the public key and all domain parameters; Swift can't import the macro.
    private static let publicKeySelection: Int32 = 0x86
}
