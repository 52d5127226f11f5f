import HTTPJSON
import JOSE

/// A sign-in in progress, as the browser keeps it while it is at the provider.
struct SignInCookie: Sendable, Hashable {
    /// How long a sign-in may take, in seconds: as long as identity's state.
    static let maxAgeSeconds: Int64 = 600
    private static let verifierByteCount = 32

    /// Identity's state.
    let state: String
    /// The PKCE verifier that the tickets need.
    let verifier: String
    /// The client's request, sealed by identity.
    let request: String
    /// The provider.
    let provider: String

    init(state: String, verifier: String, request: String, provider: String) {
        self.provider = provider
        self.state = state
        self.verifier = verifier
        self.request = request
    }

    /// The sign-in of a cookie's value: four parts with dots between.
    init?(_ value: String) {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, parts.allSatisfy(Self.isPart) else { return nil }
        self.init(state: parts[0], verifier: parts[1], request: parts[2], provider: parts[3])
    }

    /// The cookie's value; nil if identity's texts are none that it could hold.
    var value: String? {
        let parts = [state, verifier, request, provider]
        return parts.allSatisfy(Self.isPart) ? parts.joined(separator: ".") : nil
    }

    /// A new verifier (RFC 7636 section 4.1): 43 characters.
    static func makeVerifier() -> String { Base64URL.encode(SecureRandom.bytes(verifierByteCount)) }

    /// The alphabet of base64url, which identity's texts are of.
    private static func isPart(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
