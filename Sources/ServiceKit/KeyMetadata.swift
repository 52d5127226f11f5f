import JOSE
import RPC

/// How a gateway names the key whose possession a client has proven by DPoP (RFC 9449), in the metadata of its calls to identity.
public enum KeyMetadata {
    /// The metadata's name. Its value is the RFC 7638 thumbprint in base64url.
    public static let name = "vestibule-dpop-jkt"

    /// The thumbprint in a call's metadata; nil if there is none. Whether the caller is a gateway is for the reader to check.
    public static func thumbprint(of metadata: Metadata) -> JWKThumbprint? {
        guard !metadata.isEmpty, let text = metadata.first(name) else { return nil }
        return JWKThumbprint(text)
    }
}
