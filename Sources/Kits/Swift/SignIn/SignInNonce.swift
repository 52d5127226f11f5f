import Foundation

#if canImport(CryptoKit)
import CryptoKit
#endif

/// A number used once, which ties a provider's token to this sign-in: a thief of the token can't use it.
public struct SignInNonce: Sendable, Hashable {
    private static let byteCount = 32

    /// What the server gets: 43 characters of base64url.
    public let raw: String

    /// A new one, of 32 random bytes.
    public init() { raw = RandomText.base64URL(bytes: Self.byteCount) }

    /// One that the server made: see ``Vestibule/AuthService/createChallenge(provider:clientID:deadline:)``.
    public init(raw: String) { self.raw = raw }

    /// What Apple gets (`ASAuthorizationOpenIDRequest.nonce`): the SHA-256 in lowercase hexadecimal. Google and others get the same, or
    /// ``raw``, as the server is configured.
    public var sha256: String {
        SHA256Digest.of(Array(raw.utf8)).hexadecimal
    }
}

/// Texts that nobody can guess.
enum RandomText {
    static func base64URL(bytes count: Int) -> String {
        var random = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }).base64URL
    }
}

/// SHA-256 by the platform, or where that has none, as on Linux, by the kit.
enum SHA256Digest {
    static func of(_ message: [UInt8]) -> [UInt8] {
        #if canImport(CryptoKit)
        Array(SHA256.hash(data: message))
        #else
        SHA256Hash.digest(message)
        #endif
    }
}
