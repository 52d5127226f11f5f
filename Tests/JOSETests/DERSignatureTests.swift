import JOSE
import Testing

/// ECDSA signatures in DER, for keys whose signatures are not JOSE's.
struct DERSignatureTests {
    private static let message = Array("message".utf8)

    /// A sequence of two integers, each in so many bytes as given.
    private static func sequence(_ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
        let content = [0x02, UInt8(first.count)] + first + [0x02, UInt8(second.count)] + second
        return [0x30, UInt8(content.count)] + content
    }

    /// The integer of DER: no needless zero in front, and no sign.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let number = Array(bytes.drop { $0 == 0 })
        return number.first.map { $0 < 0x80 } == true ? number : [0] + number
    }

    /// The halves of a signature of this key, each without a zero in front, so that changes are what they seem.
    private static func signature(_ key: SigningKey) throws -> (raw: [UInt8], r: [UInt8], s: [UInt8]) {
        while true {
            let raw = try key.sign(message)
            let half = raw.count / 2
            if raw[0] != 0, raw[half] != 0 { return (raw, integer(raw[..<half]), integer(raw[half...])) }
        }
    }

    private static func keys() throws -> [SigningKey] {
        [try SigningKey.generateP256(), try SigningKey(pem: Fixtures.p384PEM)]
    }

    @Test func `DER verifies, JOSE's form does not, and the other way round`() throws {
        for key in try Self.keys() {
            // One in 128 has a number that is shorter.
            for number in 0..<600 {
                let message = Array("\(number)".utf8)
                let raw = try key.sign(message)
                let half = raw.count / 2
                let der = Self.sequence(Self.integer(raw[..<half]), Self.integer(raw[half...]))
                let verifier = key.verificationKey
                #expect(verifier.verifies(derSignature: der, of: message, algorithm: key.algorithm))
                #expect(!verifier.verifies(derSignature: raw, of: message, algorithm: key.algorithm))
                #expect(!verifier.verifies(der, of: message, algorithm: key.algorithm))
            }
        }
    }

    @Test func `Other spellings of the same numbers are rejected`() throws {
        for key in try Self.keys() {
            let (_, r, s) = try Self.signature(key)
            let good = Self.sequence(r, s)
            let content = Array(good.dropFirst(2))
            func verifies(_ der: [UInt8]) -> Bool {
                key.verificationKey.verifies(derSignature: der, of: Self.message, algorithm: key.algorithm)
            }
            #expect(verifies(good))
            let bare = { (number: [UInt8]) in number[0] == 0 ? Array(number.dropFirst()) : number }
            let wrong: [String: [UInt8]] = [
                "a zero before r": Self.sequence([0] + r, s), "a zero before s": Self.sequence(r, [0] + s),
                "both numbers, one negative": Self.sequence([0xff] + r, s),
                "a long length": [0x30, 0x81] + good.dropFirst(),
                "a longer length": [0x30, 0x82, 0x00] + good.dropFirst(),
                "an indefinite length": [0x30, 0x80] + content + [0, 0],
                "a long length of r": [0x30, good[1] + 1, 0x02, 0x81] + good.dropFirst(3),
                "a byte behind": good + [0], "a byte behind, counted": [0x30, good[1] + 1] + content + [0],
                "a third number": [0x30, good[1] + 3] + content + [0x02, 0x01, 0x01],
                "a set": [0x31] + good.dropFirst(), "an octet string": [0x30, good[1], 0x04] + good.dropFirst(3),
                "no numbers": [0x30, 0x00], "empty numbers": Self.sequence([], []), "one number": Self.sequence(r, []),
                "zeros": Self.sequence([0], [0]), "r of zero": Self.sequence([0], s),
                "s of zero": Self.sequence(r, [0]),
                "exchanged": Self.sequence(s, r), "nothing": [], "a tag": [0x30],
                "r too large": Self.sequence([0x01] + bare(r), s),
            ]
            for (name, der) in wrong { #expect(!verifies(der), "\(name)") }
            // A number whose highest bit is set would be negative without its zero.
            for (first, second) in [(bare(r), s), (r, bare(s))] where (first, second) != (r, s) {
                #expect(!verifies(Self.sequence(first, second)))
            }
            for count in 0..<good.count { #expect(!verifies(Array(good.prefix(count)))) }
            for index in good.indices {
                for bit in 0..<8 {
                    var tampered = good
                    tampered[index] ^= 1 << bit
                    #expect(!verifies(tampered), "byte \(index), bit \(bit)")
                }
            }
        }
    }

    @Test func `The algorithm is the key's`() throws {
        let keys = try Self.keys() + [SigningKey.generateRSA2048()]
        for key in keys {
            let raw = try key.sign(Self.message)
            let half = raw.count / 2
            let der = Self.sequence(Array(raw[..<min(half, 60)]), Array(raw[half..<min(raw.count, half + 60)]))
            for algorithm in SignatureAlgorithm.allCases where algorithm != key.algorithm || key.algorithm == .rs256 {
                let verifier = key.verificationKey
                #expect(!verifier.verifies(derSignature: der, of: Self.message, algorithm: algorithm))
                #expect(!verifier.verifies(derSignature: raw, of: Self.message, algorithm: algorithm))
            }
        }
    }
}
