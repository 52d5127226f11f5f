import COpenSSL

/// Signatures by libcrypto with one key and algorithm. Any thread; every failure leaves the thread's error queue empty.
struct Signing: Sendable {
    private let algorithm: SignatureAlgorithm
    private let contexts: ContextPool
    /// The maximum length of a signature in bytes.
    private let signatureBytesMax: Int

    /// For making signatures.
    init(signingWith key: KeyHandle, _ algorithm: SignatureAlgorithm) {
        self.init(key, algorithm, begin: EVP_PKEY_sign_init)
    }

    /// For verifying them.
    init(verifyingWith key: KeyHandle, _ algorithm: SignatureAlgorithm) {
        self.init(key, algorithm, begin: EVP_PKEY_verify_init)
    }

    private init(
        _ key: KeyHandle,
        _ algorithm: SignatureAlgorithm,
        begin: @escaping @Sendable (OpaquePointer?) -> Int32
    ) {
        self.algorithm = algorithm
        contexts = ContextPool(
            make: {
                guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else { return nil }
                if begin(context) == 1 && Self.configure(context, algorithm) { return context }
                EVP_PKEY_CTX_free(context)
                return nil
            },
            free: { EVP_PKEY_CTX_free($0) }
        )
        signatureBytesMax = Int(EVP_PKEY_get_size(key.pointer))
    }

    func verify(_ signature: [UInt8], message: [UInt8]) -> Bool {
        let digest = algorithm.digest(of: message)
        return contexts.withContext { context in
            EVP_PKEY_verify(context, signature, signature.count, digest, digest.count) == 1
        }
    }

    func sign(_ message: [UInt8]) throws(KeyError) -> [UInt8] {
        let digest = algorithm.digest(of: message)
        var isSigned = false
        let signature = [UInt8](unsafeUninitializedCapacity: signatureBytesMax) { buffer, count in
            var length = buffer.count
            isSigned = contexts.withContext { context in
                EVP_PKEY_sign(context, buffer.baseAddress, &length, digest, digest.count) == 1
            }
            count = isSigned ? length : 0
        }
        guard isSigned else { throw .failure("sign") }
        return signature
    }

    /// Sets the digest, and for RSA the padding and salt (RFC 7518 sections 3.3 to 3.5).
    private static func configure(_ context: OpaquePointer, _ algorithm: SignatureAlgorithm) -> Bool {
        let isPadded =
            switch algorithm {
            case .ps256: EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
            case .rs256, .rs384, .rs512: EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
            case .es256, .es384: true
            }
        return isPadded && EVP_PKEY_CTX_set_signature_md(context, algorithm.digestMethod) == 1
            && (algorithm != .ps256 || EVP_PKEY_CTX_set_rsa_pss_saltlen(context, 32) == 1)
    }
}

extension SignatureAlgorithm {
    fileprivate var digestMethod: OpaquePointer? {
        switch self {
        case .rs256, .ps256, .es256: EVP_sha256()
        case .rs384, .es384: EVP_sha384()
        case .rs512: EVP_sha512()
        }
    }
}
