/// Why a certificate could not be made or read.
public enum CertificateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text is not a certificate, or not an unencrypted private key, in PEM.
    case malformed(what: String)
    /// The private key doesn't belong to the authority's certificate.
    case mismatched
    /// A name has invalid characters.
    case invalidName(String)
    /// libcrypto failed.
    case cryptography(operation: String)

    /// One line for people.
    public var description: String {
        switch self {
        case .malformed(let what): "this is not a \(what) in PEM"
        case .mismatched: "the private key doesn't belong to the authority's certificate"
        case .invalidName(let name): "\(name) is not a valid name in a certificate"
        case .cryptography(let operation): "libcrypto could not \(operation)"
        }
    }
}
