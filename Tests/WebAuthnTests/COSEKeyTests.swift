import JOSE
import Testing

@testable import WebAuthn

struct COSEKeyTests {
    private static func number(_ bytes: [UInt8]) -> [UInt8] { CBORText.bytes(bytes) }

    private static func expect(
        _ error: WebAuthnError,
        _ bytes: [UInt8],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: error, sourceLocation: sourceLocation) { try COSEKey(parsing: bytes) }
    }

    @Test(arguments: CredentialKey.all)
    func `Labels that say nothing about the key are ignored, in any order`(key: CredentialKey) throws {
        let more: [(label: Int64, value: [UInt8])] = [
            (2, CBORText.bytes([1])), (4, CBORText.array([CBORText.integer(2)])), (-70_000, CBORText.text("a")),
        ]
        let read = try COSEKey(parsing: CredentialKey.encoded(more + key.entries.reversed()))
        #expect(try read.verifies(key.sign([1, 2]), of: [1, 2]))
        #expect(try !read.verifies(key.sign([1, 2]), of: [1, 3]))
    }

    @Test(arguments: CredentialKey.all)
    func `Every parameter is needed, and of its type`(key: CredentialKey) {
        for label in key.entries.map(\.label) {
            let error: WebAuthnError = label == 3 ? .malformed(.publicKey) : .badKey
            for value in [nil, CBORText.text("ES256"), [0xf5], CBORText.bytes([]), CBORText.map([])] {
                Self.expect(error, key.encoded(with: label, value))
            }
        }
    }

    @Test(arguments: CredentialKey.all)
    func `Type, algorithm and curve agree`(key: CredentialKey) {
        let own = key.entries
        for type: Int64 in 0...5 where CBORText.integer(type) != own[0].value {
            Self.expect(.badKey, key.encoded(with: 1, CBORText.integer(type)))
        }
        for algorithm in PasskeyAlgorithm.allCases where CBORText.integer(algorithm.rawValue) != own[1].value {
            Self.expect(.badKey, key.encoded(with: 3, CBORText.integer(algorithm.rawValue)))
        }
        for curve: Int64 in 0...8 where CBORText.integer(curve) != own[2].value {
            Self.expect(.badKey, key.encoded(with: -1, CBORText.integer(curve)))
        }
    }

    @Test func `A point of P-256 is whole and on the curve`() throws {
        let key = CredentialKey.es256
        let x = try #require(try CBORReader.whole(key.entries[3].value[...]).bytes)
        let points = [0x00, 0xff].map { [UInt8](repeating: $0, count: 32)[...] }
        for wrong in [x.dropLast(), [0] + x] + points {
            Self.expect(.badKey, key.encoded(with: -2, Self.number(Array(wrong))))
        }
        // Compressed points, and both coordinates the same.
        for y in [[0xf5], [0xf4], Self.number(Array(x)), Self.number([UInt8](repeating: 0, count: 32))] {
            Self.expect(.badKey, key.encoded(with: -3, y))
        }
    }

    @Test func `A key for Ed25519 is a point of large order`() {
        for wrong in [
            [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31), [UInt8](repeating: 9, count: 31),
            [UInt8](repeating: 9, count: 33), [2] + [UInt8](repeating: 0, count: 31),
        ] {
            Self.expect(.badKey, CredentialKey.edDSA.encoded(with: -2, Self.number(wrong)))
        }
    }

    @Test func `An RSA key has 2048 to 4096 bits and an odd exponent from 65537`() throws {
        let key = CredentialKey.rs256
        let modulus = try #require(try CBORReader.whole(key.entries[2].value[...]).bytes)
        let large = [UInt8](repeating: 0xb5, count: 512)
        #expect(try COSEKey(parsing: key.encoded(with: -1, Self.number(large))).algorithm == .rs256)
        for wrong in [
            [0] + modulus, modulus.dropFirst(), [0x7f] + modulus.dropFirst(), [0x01] + large, [],
            [UInt8](repeating: 0xb5, count: 128)[...],
        ] as [ArraySlice<UInt8>] {
            Self.expect(.badKey, key.encoded(with: -1, Self.number(Array(wrong))))
        }
        for exponent in [[1, 0, 1], [1, 0, 3], [0xff, 0xff, 0xff, 0xff]] as [[UInt8]] {
            #expect(try COSEKey(parsing: key.encoded(with: -2, Self.number(exponent))).algorithm == .rs256)
        }
        for wrong in [[3], [17], [0xff, 0xff], [1, 0, 0], [1, 0, 2], [0, 1, 0, 1], [1, 0, 0, 0, 1]] as [[UInt8]] {
            Self.expect(.badKey, key.encoded(with: -2, Self.number(wrong)))
        }
        Self.expect(.badKey, key.encoded(with: -2, CBORText.integer(65537)))
    }

    @Test func `Other algorithms are not offered`() {
        let key = CredentialKey.es256
        for algorithm: Int64 in [-6, -9, -19, -35, -36, -37, -47, -258, -65535, 7, 5] {
            Self.expect(.unsupportedAlgorithm, key.encoded(with: 3, CBORText.integer(algorithm)))
        }
    }

    @Test(arguments: CredentialKey.all)
    func `A key that is cut anywhere is none`(key: CredentialKey) {
        let bytes = key.encoded
        for count in 0..<bytes.count { Self.expect(.malformed(.publicKey), Array(bytes.prefix(count))) }
        Self.expect(.malformed(.publicKey), bytes + [0])
        Self.expect(.malformed(.publicKey), CBORText.array([bytes]))
    }
}
