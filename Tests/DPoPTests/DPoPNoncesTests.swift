import JOSE
import Testing

@testable import DPoP

struct DPoPNoncesTests {
    private static let nonces = DPoPNonces()

    @Test func `A nonce changes every half minute`() {
        let first = Self.nonces.current(monotonicSeconds: 900)
        #expect(first == Self.nonces.current(monotonicSeconds: 929))
        #expect(first != Self.nonces.current(monotonicSeconds: 930))
        #expect(first != Self.nonces.current(monotonicSeconds: 899))
        #expect(first.utf8.count == DPoPNonces.characterCount)
    }

    @Test func `A nonce is good for a minute and a half from the start of its window`() {
        let nonce = Self.nonces.current(monotonicSeconds: 900)
        for seconds: Int64 in [870, 899, 900, 929, 960, 989] {
            #expect(Self.nonces.check(nonce, monotonicSeconds: seconds) == .good, "\(seconds)")
        }
        for seconds: Int64 in [0, 869, 990, 1_000, 1_000_000] {
            #expect(Self.nonces.check(nonce, monotonicSeconds: seconds) == .staleOrForeign, "\(seconds)")
        }
        #expect(DPoPNonces.lifetimeSeconds == 90)
    }

    @Test(arguments: [.max, .max - 31, 31, 30, 29, 1, 0, -1, -29, -30, -31, .min + 31, .min] as [Int64])
    func `No time overflows`(seconds: Int64) {
        let nonce = Self.nonces.current(monotonicSeconds: seconds)
        #expect(Self.nonces.check(nonce, monotonicSeconds: seconds) == .good)
        for other: Int64 in [.max, .max / 2, 0, .min / 2, .min]
        where abs(Double(other) - Double(seconds)) > 1_000_000 {
            #expect(Self.nonces.check(nonce, monotonicSeconds: other) == .staleOrForeign)
        }
    }

    /// Around zero too: a division that rounds towards zero would make one window twice as long.
    @Test func `Every window has thirty seconds`() {
        let nonces = (-90..<90).map { Self.nonces.current(monotonicSeconds: $0) }
        #expect(Set(nonces).count == 6)
    }

    @Test func `Another process's nonce is not good, even with the same id or the same key`() {
        let (instance, key) = ([UInt8](repeating: 1, count: 8), [UInt8](repeating: 2, count: 32))
        let ours = DPoPNonces(instance: instance, key: key, windowOffset: 5)
        let others = [
            DPoPNonces(), DPoPNonces(instance: instance, key: [UInt8](repeating: 3, count: 32), windowOffset: 5),
            DPoPNonces(instance: [UInt8](repeating: 3, count: 8), key: key, windowOffset: 5),
        ]
        for other in others {
            let nonce = other.current(monotonicSeconds: 900)
            #expect(ours.check(nonce, monotonicSeconds: 900) == .staleOrForeign)
            #expect(other.check(nonce, monotonicSeconds: 900) == .good)
        }
    }

    @Test func `A nonce with any bit or length changed is not good`() throws {
        let nonce = Self.nonces.current(monotonicSeconds: 900)
        let bytes = try #require(Base64URL.decode(nonce))
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(Self.nonces.check(Base64URL.encode(changed), monotonicSeconds: 900) == .staleOrForeign)
        }
        for text in ["", String(nonce.dropLast()), nonce + "A", nonce + "=", String(repeating: "\u{e9}", count: 43)] {
            #expect(Self.nonces.check(text, monotonicSeconds: 900) == .staleOrForeign)
        }
    }

    @Test func `Nonces print no key`() {
        let nonces = DPoPNonces(
            instance: [UInt8](repeating: 1, count: 8),
            key: [UInt8](repeating: 2, count: 32),
            windowOffset: 0
        )
        #expect("\(nonces)" == "DPoPNonces")
    }
}
