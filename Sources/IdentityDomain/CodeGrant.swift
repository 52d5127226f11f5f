import JOSE

/// An authorization code with all that it was issued for (RFC 6749 section 4.1.3, RFC 7636 section 4.5).
///
/// The hash that identifies an exchange and the secret under which its result is sealed are derived from all of it. A thief with the code,
/// but without the verifier or the redirect URI, doesn't find the owner's result: the provider is asked, and rejects the code.
public struct CodeGrant: Sendable, Hashable {
    /// The longest code, in bytes.
    public static let codeBytesMax = 2_048
    /// The longest redirect URI, in bytes.
    public static let redirectURIBytesMax = 2_048
    /// The longest verifier, in bytes (RFC 7636 section 4.1).
    public static let codeVerifierBytesMax = 128

    /// The provider that issued it.
    public let provider: ProviderName
    /// The app that it was issued to.
    public let clientID: String
    /// The code.
    public let code: String
    /// The redirect URI that it was issued to; empty if none was used.
    public let redirectURI: String
    /// The PKCE verifier; empty if there is none.
    public let codeVerifier: String

    /// A grant; nil if a provider can have issued none of that size. Codes and verifiers are visible ASCII.
    public init?(
        provider: ProviderName,
        clientID: String,
        code: String,
        redirectURI: String,
        codeVerifier: String
    ) {
        guard 1...Self.codeBytesMax ~= code.utf8.count, redirectURI.utf8.count <= Self.redirectURIBytesMax,
            codeVerifier.utf8.count <= Self.codeVerifierBytesMax,
            code.utf8.allSatisfy({ 0x20...0x7e ~= $0 }), codeVerifier.utf8.allSatisfy({ 0x21...0x7e ~= $0 })
        else { return nil }
        self.provider = provider
        self.clientID = clientID
        self.code = code
        self.redirectURI = redirectURI
        self.codeVerifier = codeVerifier
    }

    /// By what its exchange is known. Tells nothing of the code.
    public var hash: [UInt8] { SHA256.hash(Array("vestibule code 1\0".utf8) + secret) }

    /// Seals what came of its exchange.
    public func seal(_ plain: [UInt8]) -> [UInt8] {
        Seal.seal(plain, secret: secret, label: Self.sealLabel, associatedData: hash)
    }

    /// Opens what was sealed with the same grant; nil for anything else.
    public func open(_ sealed: [UInt8]) -> [UInt8]? {
        Seal.open(sealed, secret: secret, label: Self.sealLabel, associatedData: hash)
    }

    /// The form that the token endpoint is sent, but for what proves who we are.
    public var form: [(name: String, value: String)] {
        var form = [(name: "grant_type", value: "authorization_code"), ("client_id", clientID), ("code", code)]
        if !redirectURI.isEmpty { form.append(("redirect_uri", redirectURI)) }
        if !codeVerifier.isEmpty { form.append(("code_verifier", codeVerifier)) }
        return form
    }

    private static let sealLabel = "vestibule code exchange 1"

    /// Each part after its length, so that no two grants have the same bytes.
    private var secret: [UInt8] {
        [provider.value, clientID, code, redirectURI, codeVerifier].flatMap { part in
            withUnsafeBytes(of: UInt32(part.utf8.count).bigEndian) { Array($0) } + Array(part.utf8)
        }
    }
}
