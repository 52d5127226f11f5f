import COpenSSL
import Glibc

/// The last claim of a payload, by which an issuer recognizes its own token without checking the signature.
///
/// Its value is base64url of HMAC-SHA256, cut to ``byteCount`` bytes, over a label, the encoded header, a dot, and the payload's bytes
/// before the comma in front of the claim: so it covers every byte of header and payload outside the claim. Services without the key
/// verify the signature, which covers this claim too. 16 bytes are half of the code, the least that RFC 2104 section 5 recommends. A
/// forger can only send guesses to us, and a guess is right with a probability of 1 in 2^128.
///
/// The key is a secret: with it one can make tokens that all services with the key accept. Immutable; any thread; never prints a key.
public struct MACClaim: Sendable, CustomStringConvertible {
    /// The claim's name.
    public static let name = "mac"
    /// The length of its value in bytes.
    public static let byteCount = 16

    private static let start = Array(#","\#(name)":""#.utf8)
    private static let end = Array(#""}"#.utf8)
    private static let characterCount = Base64URL.characterCount(of: byteCount)
    /// The length of the claim in a payload, with the comma before it and the object's end.
    static let textByteCount = start.count + characterCount + end.count

    private let label: [UInt8]
    private let key: HMACKey

    /// - Parameters:
    ///   - label: the purpose of the tokens; another label gives another value under the same key.
    ///   - key: makes and verifies the claim.
    public init(label: String, key: [UInt8]) {
        self.label = Array(label.utf8)
        self.key = HMACKey(key)
    }

    /// Adds the claim to a payload: the text of an object that has other claims but not this one.
    func append(to payload: inout [UInt8], encodedHeader: String) {
        precondition(payload.count > 2 && payload.last == UInt8(ascii: "}"), "the payload is an object with claims")
        payload.removeLast()
        let header = Array(encodedHeader.utf8) + [UInt8(ascii: ".")]
        var code = [UInt8](repeating: 0, count: SHA256.byteCount)
        header.withUnsafeBufferPointer { header in
            payload.withUnsafeBufferPointer { content in
                code.withUnsafeMutableBufferPointer { write(header, content, into: $0) }
            }
        }
        payload += Self.start
        payload += Base64URL.encode(code.prefix(Self.byteCount)).utf8
        payload += Self.end
    }

    /// Whether the key made the claim at the end of a payload.
    ///
    /// - Parameter header: the encoded header and its dot, as received.
    func isMade(in payload: UnsafeBufferPointer<UInt8>, header: UnsafeBufferPointer<UInt8>) -> Bool {
        guard payload.count > Self.textByteCount else { return false }
        let content = UnsafeBufferPointer(rebasing: payload.dropLast(Self.textByteCount))
        let claim = UnsafeBufferPointer(rebasing: payload.suffix(Self.textByteCount))
        let text = claim[Self.start.count..<claim.count - Self.end.count]
        guard claim.starts(with: Self.start), claim.suffix(Self.end.count).elementsEqual(Self.end) else { return false }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.byteCount) { claimed in
            guard Base64URL.decode(UnsafeBufferPointer(rebasing: text), into: claimed) == Self.byteCount else {
                return false
            }
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: SHA256.byteCount) { code in
                write(header, content, into: code)
                return CRYPTO_memcmp(code.baseAddress, claimed.baseAddress, Self.byteCount) == 0
            }
        }
    }

    private func write(
        _ header: UnsafeBufferPointer<UInt8>,
        _ content: UnsafeBufferPointer<UInt8>,
        into code: UnsafeMutableBufferPointer<UInt8>
    ) {
        label.withUnsafeBufferPointer { key.write($0, header, content, into: code) }
    }

    /// Never the key.
    public var description: String { "MACClaim" }
}

/// Recognizes tokens of one `typ` that a set's keys signed and that have a ``MACClaim``. Immutable; any thread.
public struct MACTokens: Sendable {
    /// The start of one key's tokens, up to the first dot, and the length of their signatures.
    private struct Kind: Sendable {
        let header: [UInt8]
        let signatureByteCount: Int
    }

    private let claim: MACClaim
    private let kinds: [Kind]
    private let bytesMax: Int

    /// Tokens with a header as ``SigningKey/encodedHeader(type:)`` writes it, of `bytesMax` bytes at most.
    public init(type: String, signedBy keySet: KeySet, claim: MACClaim, bytesMax: Int) {
        self.claim = claim
        self.bytesMax = bytesMax
        kinds = keySet.entries.map { entry in
            Kind(
                header: Array((entry.encodedHeader(type: type) + ".").utf8),
                signatureByteCount: entry.key.signatureByteCount
            )
        }
    }

    /// Calls `body` with the payload of a token whose claim our key made: we wrote those bytes. Of the signature only the
    /// length and the alphabet are checked.
    ///
    /// - Returns: the result of `body`; nil for any other text. Such a text may still have a valid signature.
    public func withPayload<Result>(
        of token: String,
        _ body: (UnsafeBufferPointer<UInt8>) -> Result?
    ) -> Result? {
        var token = token
        return token.withUTF8 { token in
            guard token.count <= bytesMax,
                let kind = kinds.first(where: { token.count > $0.header.count && Self.begins(token, $0.header) }),
                let dot = token[kind.header.count...].firstIndex(of: UInt8(ascii: ".")),
                Base64URL.isText(UnsafeBufferPointer(rebasing: token[(dot + 1)...]), ofBytes: kind.signatureByteCount)
            else { return nil }
            let header = UnsafeBufferPointer(rebasing: token[..<kind.header.count])
            let text = UnsafeBufferPointer(rebasing: token[kind.header.count..<dot])
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count * 3 / 4) { bytes in
                guard let count = Base64URL.decode(text, into: bytes) else { return nil }
                let payload = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(bytes)[..<count])
                return claim.isMade(in: payload, header: header) ? body(payload) : nil
            }
        }
    }

    /// The comparison may end early, since headers aren't secret.
    private static func begins(_ token: UnsafeBufferPointer<UInt8>, _ header: [UInt8]) -> Bool {
        header.withUnsafeBufferPointer { header in
            guard let first = token.baseAddress, let second = header.baseAddress else { return false }
            return memcmp(first, second, header.count) == 0
        }
    }
}
