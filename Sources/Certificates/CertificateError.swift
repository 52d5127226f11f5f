/// Why a certificate could not be made or read.
public enum CertificateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text is no certificate, or no unencrypted private key, in PEM.
    case malformed(what: String)
    /// The private key is not that of the authority's certificate.
    case mismatched
    /// A name has characters that have no place in it.
    case invalidName(String)
    /// libcrypto failed.
    case cryptography(operation: String)

    /// One line for people.
    public var description: String {
        switch self {
        case .malformed(let what): "this is no \(what) in PEM"
        case .mismatched: "the private key is not that of the authority's certificate"
        case .invalidName(let name): "\(name) cannot stand in a certificate"
        case .cryptography(let operation): "libcrypto could not \(operation)"
        }
    }
}
