import JOSE

/// Nonces of ours for sign-ins with an ID token: each good for one audience and some minutes. Nothing of them is stored.
///
/// The text is base64url of when it ends (8 bytes, big-endian), 16 random bytes, and 16 bytes of HMAC-SHA256 over both with the
/// provider's and the audience's name. Sixteen are enough, since only we can tell whether a guess is right.
///
/// A nonce isn't used up by a sign-in: that is what the ID token is, which buys one session. What is new is that nobody can
/// have an ID token made today for a sign-in of tomorrow.
public struct SignInNonces: Sendable {
    /// For how long one is good, in seconds: as long as a person may take at the provider.
    public static let lifetimeSeconds: Int64 = 600
    /// Bytes that make each another one.
    public static let randomByteCount = 16
    private static let codeByteCount = 16
    private static let byteCount = 8 + randomByteCount + codeByteCount
    /// Length of the text.
    static let textByteCount = (byteCount * 4 + 2) / 3

    private let keys: [[UInt8]]

    /// Nonces under keys that are derived from the refresh keys: the first makes, all verify.
    public init(_ refreshKeys: RefreshKeys) { keys = refreshKeys.derived("vestibule sign-in nonce 1") }

    /// A nonce for an audience.
    ///
    /// - Parameter random: ``randomByteCount`` random bytes.
    public func make(provider: ProviderName, audience: String, nowSeconds: Int64, random: [UInt8]) -> String {
        precondition(random.count == Self.randomByteCount)
        let end = UInt64(bitPattern: nowSeconds + Self.lifetimeSeconds)
        let content = (0..<8).map { UInt8(truncatingIfNeeded: end >> (56 - $0 * 8)) } + random
        return Base64URL.encode(content + Self.code(content, provider, audience, keys[0]))
    }

    /// Throws unless a text is a nonce that we made for this audience and that isn't over: `nonceUnknown` or `nonceExpired`.
    public func check(
        _ text: String,
        provider: ProviderName,
        audience: String,
        nowSeconds: Int64
    ) throws(IdentityError) {
        guard text.utf8.count == Self.textByteCount, let bytes = Base64URL.decode(text), bytes.count == Self.byteCount
        else { throw .signIn(.nonceUnknown) }
        let content = Array(bytes.dropLast(Self.codeByteCount))
        let isOurs = keys.contains { key in
            ConstantTime.areEqual(Self.code(content, provider, audience, key), bytes.suffix(Self.codeByteCount))
        }
        guard isOurs else { throw .signIn(.nonceUnknown) }
        let end = Int64(bitPattern: content.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        guard nowSeconds < end else { throw .signIn(.nonceExpired) }
    }

    private static func code(
        _ content: [UInt8],
        _ provider: ProviderName,
        _ audience: String,
        _ key: [UInt8]
    ) -> [UInt8] {
        // A provider's name has no zero byte, and the content's length is fixed.
        let names = Array(provider.value.utf8) + [0] + Array(audience.utf8)
        return Array(SHA256.authenticationCode(of: content + names, key: key).prefix(codeByteCount))
    }
}
