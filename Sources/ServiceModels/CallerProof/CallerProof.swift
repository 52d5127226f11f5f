import JOSE
import Models
import ServiceKit

/// On whose behalf a service is called, as identity saw it a moment ago: what proves it to one service.
///
/// The text is base64url without padding of 57 bytes, numbers big-endian:
///
/// | bytes | what |
/// | --- | --- |
/// | 1 | the version: 1, or 2 for a guest |
/// | 4 | the id of the key (`CallerProofKey.id`) |
/// | 4 | the minute: Unix seconds of thirty seconds before it was made, divided by 60 |
/// | 16 | the user's id |
/// | 16 | the session's id; zeros for somebody who has shown credentials and has no session yet |
/// | 16 | the first 16 bytes of HMAC-SHA256, under the service's key, of `vestibule caller proof 1`, a zero byte, the service's name, a zero byte, and the 41 bytes before |
///
/// A service takes the minute of its own clock and the one before. The half minute that the maker steps back stands in the
/// middle of these two: clocks of identity and of a service may differ by thirty seconds either way, less what a call is under
/// way, and no proof is good for longer than ninety seconds where they agree.
public struct CallerProof: Sendable, Hashable {
    /// Bytes of a proof.
    public static let byteCount = contentByteCount + codeByteCount
    /// Characters of its text.
    public static let textLength = byteCount / 3 * 4

    static let version: UInt8 = 1
    static let guestVersion: UInt8 = 2
    static let contentByteCount = 41
    static let codeByteCount = 16
    private static let label = "vestibule caller proof 1"

    /// The user.
    public let userID: UserID
    /// Their session; nil for somebody who has shown credentials and has no session yet.
    public let sessionID: SessionID?
    /// Whether the user is a guest, who may not do all that others do.
    public let isGuest: Bool
    /// The minute that it was made in, of half a minute before.
    public let minute: UInt32

    /// Who called, in a minute.
    public init(userID: UserID, sessionID: SessionID?, isGuest: Bool = false, minute: UInt32) {
        self.isGuest = isGuest
        self.userID = userID
        self.sessionID = sessionID
        self.minute = minute
    }

    /// The minute of proofs that are made now.
    public static func minute(madeAtMilliseconds milliseconds: Int64) -> UInt32 {
        UInt32(clamping: (milliseconds / 1_000 - 30) / 60)
    }

    /// When proofs that are made now are renewed, in Unix milliseconds: when the minute of new ones is another one.
    public static func renewedAtMilliseconds(madeAtMilliseconds milliseconds: Int64) -> Int64 {
        (Int64(minute(madeAtMilliseconds: milliseconds)) + 1) * 60_000 + 30_000
    }

    /// The proof to the service with this key.
    public func text(under key: CallerProofKey, for service: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        bytes.append(isGuest ? Self.guestVersion : Self.version)
        bytes += key.id
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: minute >> shift)) }
        bytes += userID.bytes
        bytes += sessionID?.bytes ?? [UInt8](repeating: 0, count: 16)
        bytes += Self.code(of: bytes, key, service)
        return Base64URL.encode(bytes)
    }

    /// The proof of a text.
    ///
    /// - Parameters:
    ///   - keys: the service's; which one the proof is under, it says itself.
    ///   - nowMilliseconds: the service's clock.
    /// - Throws: `malformed` for what is no proof, or one of another version or key; `forged` for one that isn't identity's, or
    ///   is another service's; `expired` for one that is too old, or from a clock that is ahead.
    public init(
        _ text: String,
        under keys: [CallerProofKey],
        for service: String,
        nowMilliseconds: Int64
    ) throws(CallerProofError) {
        guard text.utf8.count == Self.textLength, let bytes = Base64URL.decode(text), bytes.count == Self.byteCount,
            bytes[0] == Self.version || bytes[0] == Self.guestVersion,
            let key = keys.first(where: { $0.id == Array(bytes[1..<5]) })
        else { throw .malformed }
        let code = Array(bytes[Self.contentByteCount...])
        guard ConstantTime.areEqual(Self.code(of: Array(bytes[..<Self.contentByteCount]), key, service), code) else {
            throw .forged
        }
        let userID = UserID(high: Self.number(bytes, at: 9), low: Self.number(bytes, at: 17))
        let sessionID = SessionID(high: Self.number(bytes, at: 25), low: Self.number(bytes, at: 33))
        let minute = bytes[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let now = nowMilliseconds / 60_000
        guard now - 1...now ~= Int64(minute) else { throw .expired }
        self.init(
            userID: userID,
            sessionID: sessionID.high == 0 && sessionID.low == 0 ? nil : sessionID,
            isGuest: bytes[0] == Self.guestVersion,
            minute: minute
        )
    }

    private static func code(of content: [UInt8], _ key: CallerProofKey, _ service: String) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(label.utf8.count + service.utf8.count + 2 + contentByteCount)
        message += label.utf8
        message.append(0)
        message += service.utf8
        message.append(0)
        message += content
        return Array(key.codes.code(of: message).prefix(codeByteCount))
    }

    /// Eight bytes, most significant first.
    private static func number(_ bytes: [UInt8], at offset: Int) -> UInt64 {
        bytes[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
