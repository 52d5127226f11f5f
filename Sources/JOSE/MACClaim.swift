import COpenSSL
import Glibc

/// The last claim of a payload, by which its makers know a token of theirs again without checking the signature.
///
/// Its value is base64url of HMAC-SHA256, cut to ``byteCount`` bytes, over a label, the encoded header, a dot, and the payload's bytes
/// before the comma in front of the claim: of every byte of header and payload that the claim doesn't hold itself. Those who do not
/// have the key go by the signature, which covers the claim like any other. 16 bytes are half of the code, the least that RFC 2104
/// section 5 recommends; a forger can only try values on us, and each is right once in 2^128.
///
/// Whoever has the key can make tokens that its holders believe. Immutable; any thread; prints nothing of a key.
public struct MACClaim: Sendable, CustomStringConvertible {
    /// The claim's name.
    public static let name = "mac"
    /// Bytes of its value.
    public static let byteCount = 16

    private static let start = Array(#","\#(name)":""#.utf8)
    private static let end = Array(#""}"#.utf8)
    private static let characterCount = Base64URL.characterCount(of: byteCount)
    /// Bytes of the claim in a payload, with the comma before it and the object's end.
    static let textByteCount = start.count + characterCount + end.count

    private let label: [UInt8]
    private let key: HMACKey

    /// - Parameters:
    ///   - label: what the tokens are for; other labels give other values under the same key.
    ///   - key: makes the claim, and knows it.
    public init(label: String, key: [UInt8]) {
        self.label = Array(label.utf8)
        self.key = HMACKey(key)
    }

    /// Adds the claim to a payload, the text of an object that has other claims and none of this name.
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
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.byteCount) { told in
            guard Base64URL.decode(UnsafeBufferPointer(rebasing: text), into: told) == Self.byteCount else {
                return false
            }
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: SHA256.byteCount) { code in
                write(header, content, into: code)
                return CRYPTO_memcmp(code.baseAddress, told.baseAddress, Self.byteCount) == 0
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

/// The tokens of one `typ` that a set's keys sign and a ``MACClaim`` is in. Immutable; any thread.
public struct MACTokens: Sendable {
    /// What a token of one key begins with, its dot included, and how long its signature is.
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

    /// Calls `body` with the payload of a token whose claim our key made, which is to say with bytes that we wrote. The
    /// signature only has to look like one of its key.
    ///
    /// - Returns: what `body` gives; nil, too, for any other text, which says nothing against it: its signature may be good.
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

    /// What is in a header is no secret, so that the comparison may end early.
    private static func begins(_ token: UnsafeBufferPointer<UInt8>, _ header: [UInt8]) -> Bool {
        header.withUnsafeBufferPointer { header in
            guard let first = token.baseAddress, let second = header.baseAddress else { return false }
            return memcmp(first, second, header.count) == 0
        }
    }
}
