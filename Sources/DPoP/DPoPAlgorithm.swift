import JOSE

/// The algorithms of proofs.
///
/// RSA is not among them: the client chooses the key, and a verification with 7680 bits and the usual exponent already takes more than
/// three times as long as one with ES256 (openssl speed: 256 against 75 microseconds). All platforms have ES256.
public enum DPoPAlgorithm: Sendable, Hashable, CaseIterable {
    /// ECDSA on P-256 with SHA-256.
    case es256
    /// Ed25519.
    case ed25519

    /// The names in `alg`. Ed25519 has two: `EdDSA` (RFC 8037) for all curves of that kind, and its own (RFC 9864).
    public var names: [String] {
        switch self {
        case .es256: ["ES256"]
        case .ed25519: ["EdDSA", "Ed25519"]
        }
    }

    /// The value of `algs` in `WWW-Authenticate`, and the members of `dpop_signing_alg_values_supported` (RFC 9449 sections 7.1 and
    /// 5.1).
    public static var allNames: [String] { allCases.flatMap(\.names) }

    /// The algorithm with that name; nil for any other. Names are compared by their bytes.
    init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.names.contains { $0.utf8.elementsEqual(name.utf8) } }) else {
            return nil
        }
        self = found
    }
}
