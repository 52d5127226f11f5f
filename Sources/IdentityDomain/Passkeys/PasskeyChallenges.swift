import JOSE
import Models

/// Challenges of passkeys (WebAuthn Level 3 section 13.4.3): each good for one purpose and some minutes. Nothing of them is stored: the
/// client data brings the challenge back.
///
/// A challenge is when it ends (8 bytes, big-endian), 16 random bytes, and 16 bytes of HMAC-SHA256 over both and the purpose. The purpose
/// of a registration has the session's id and the user handle: a challenge that another account asked for adds no passkey. That of a recovery
/// has the code's hash in place of a session.
///
/// A sign-in uses its challenge up, by ``SpentChallenge/fingerprint``. A registration doesn't need that: the same credential added
/// twice is one passkey.
public struct PasskeyChallenges: Sendable {
    /// For how long one is good, in seconds: what section 15.1 recommends as the time that a user has.
    public static let lifetimeSeconds: Int64 = 300
    /// Bytes that make each another one.
    public static let randomByteCount = 16
    private static let codeByteCount = 16
    private static let contentByteCount = 8 + randomByteCount
    /// Bytes of a challenge.
    static let byteCount = contentByteCount + codeByteCount

    /// What a challenge is for.
    public enum Purpose: Sendable, Hashable {
        /// A sign-in.
        case signIn
        /// A passkey that a session adds, under this user handle: the options named it, and the authenticator keeps it.
        case registration(SessionID, handle: UserID)
        /// A passkey that a recovery code adds, under this user handle.
        case recovery(RecoveryCode, handle: UserID)

        fileprivate var bytes: [UInt8] {
            switch self {
            case .signIn: [0]
            case .registration(let session, let handle): [1] + session.bytes + handle.bytes
            case .recovery(let code, let handle): [2] + code.hash + handle.bytes
            }
        }
    }

    private let keys: [[UInt8]]

    /// Challenges under keys that are derived from the refresh keys: the first makes, all verify.
    public init(_ refreshKeys: RefreshKeys) { keys = refreshKeys.derived("vestibule passkey challenge 1") }

    /// A challenge.
    ///
    /// - Parameter random: ``randomByteCount`` random bytes.
    public func make(for purpose: Purpose, nowSeconds: Int64, random: [UInt8]) -> [UInt8] {
        precondition(random.count == Self.randomByteCount)
        let end = UInt64(bitPattern: nowSeconds + Self.lifetimeSeconds)
        let content = (0..<8).map { UInt8(truncatingIfNeeded: end >> (56 - $0 * 8)) } + random
        return content + Self.code(content, purpose, keys[0])
    }

    /// Checks that a challenge is one that we made for a purpose, and that it isn't over.
    ///
    /// - Throws: `IdentityError.passkey` with `challengeUnknown` or `challengeExpired`.
    public func check(
        _ challenge: [UInt8],
        for purpose: Purpose,
        nowSeconds: Int64
    ) throws(IdentityError) -> SpentChallenge {
        guard challenge.count == Self.byteCount else { throw .passkey(.challengeUnknown) }
        let content = Array(challenge[..<Self.contentByteCount])
        let code = Array(challenge[Self.contentByteCount...])
        guard keys.contains(where: { ConstantTime.areEqual(Self.code(content, purpose, $0), code) }) else {
            throw .passkey(.challengeUnknown)
        }
        let end = Int64(bitPattern: content.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        guard nowSeconds < end else { throw .passkey(.challengeExpired) }
        let fingerprint = SHA256.hash(Array("vestibule passkey challenge 1\0".utf8) + content)
        return SpentChallenge(fingerprint: fingerprint, endsAtSeconds: end)
    }

    private static func code(_ content: [UInt8], _ purpose: Purpose, _ key: [UInt8]) -> [UInt8] {
        Array(SHA256.authenticationCode(of: content + purpose.bytes, key: key).prefix(codeByteCount))
    }
}

/// A challenge that a passkey has answered.
public struct SpentChallenge: Sendable, Hashable {
    /// What the challenge is known by, 32 bytes.
    public let fingerprint: [UInt8]
    /// When it would be refused, in Unix seconds.
    public let endsAtSeconds: Int64
}
