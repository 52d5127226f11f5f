import Bytes
import JOSE

/// Nonces of one process (RFC 9449 section 8). None is stored.
///
/// The text is base64url of the number of a window of time (8 bytes), the process's random id (8 bytes), and 16 bytes of HMAC-SHA256 over
/// both. Sixteen are enough, since only the process can check a guess. Id and key are random, and the key never leaves the process: so
/// a nonce of another replica, or of the process before a restart, is not good, and a proof with a nonce is good at one process only. That is why ``SeenProofs`` needs no shared storage.
///
/// A nonce isn't used up: many requests may have the same, and `jti` distinguishes them. Any thread. Never prints the key.
public struct DPoPNonces: Sendable, CustomStringConvertible {
    /// After how many seconds there is another nonce.
    public static let windowSeconds: Int64 = 30
    /// In how many windows a nonce is good, its own among them.
    public static let windowsMax: Int64 = 3
    /// The maximum time for which a nonce is good, in seconds. The last client to get it has one window less.
    public static let lifetimeSeconds = windowSeconds * windowsMax
    /// The length of the text in characters.
    public static let characterCount = 43

    private static let instanceByteCount = 8
    private static let codeByteCount = 16
    private static let byteCount = 8 + instanceByteCount + codeByteCount

    private let instance: [UInt8]
    private let key: HMACKey
    /// Added to the number of a window, which would otherwise say for how long the machine has been up.
    private let windowOffset: Int64

    /// Nonces with a new id and a new key. A process makes one value and shares it among its event loops.
    public init() {
        var random = SecureRandom()
        self.init(
            instance: SecureRandom.bytes(Self.instanceByteCount),
            key: SecureRandom.bytes(SHA256.byteCount),
            windowOffset: Int64.random(in: 0..<1 << 32, using: &random)
        )
    }

    init(instance: [UInt8], key: [UInt8], windowOffset: Int64) {
        precondition(instance.count == Self.instanceByteCount)
        self.instance = instance
        self.key = HMACKey(key)
        self.windowOffset = windowOffset
    }

    /// The nonce for `DPoP-Nonce` in a response.
    public func current(monotonicSeconds: Int64) -> String {
        var content: [UInt8] = []
        content.append(integer: window(at: monotonicSeconds))
        content += instance
        return Base64URL.encode(content + code(of: content))
    }

    /// What a check of a nonce finds.
    public enum Check: Sendable, Hashable {
        /// This process made it, lately enough.
        case good
        /// It is too old, another process made it, or nobody did.
        case staleOrForeign
    }

    /// Checks a nonce that a client sent.
    public func check(_ text: String, monotonicSeconds: Int64) -> Check {
        guard text.utf8.count == Self.characterCount, let bytes = Base64URL.decode(text), bytes.count == Self.byteCount
        else { return .staleOrForeign }
        let content = Array(bytes.dropLast(Self.codeByteCount))
        var reader = ByteReader(content[...], truncated: DPoPError.badNonce)
        guard ConstantTime.areEqual(code(of: content), Array(bytes.suffix(Self.codeByteCount))),
            content.suffix(Self.instanceByteCount).elementsEqual(instance),
            let window = try? reader.integer(Int64.self),
            let age = (Checked(self.window(at: monotonicSeconds)) - window).value
        else { return .staleOrForeign }
        // One window ahead: threads read the clock one after the other, and an event loop may go by what it read before.
        return -1..<Self.windowsMax ~= age ? .good : .staleOrForeign
    }

    /// The number of the window, rounded down. No time of 64 bits overflows: a window has more seconds than the offset could add.
    private func window(at seconds: Int64) -> Int64 {
        let (quotient, remainder) = seconds.quotientAndRemainder(dividingBy: Self.windowSeconds)
        return (remainder < 0 ? quotient - 1 : quotient) + windowOffset
    }

    private func code(of content: [UInt8]) -> [UInt8] { Array(key.code(of: content).prefix(Self.codeByteCount)) }

    /// Never the key.
    public var description: String { "DPoPNonces" }
}
