import JOSE
import Testing

@testable import WebAuthn

/// The examples of RFC 8949, appendix A, and what the appendix leaves out.
struct CBORReaderTests {
    private static func hex(_ text: String) throws -> ArraySlice<UInt8> { try #require(Hex.decode(text))[...] }

    private static func map(_ entries: (CBORValue, CBORValue)...) -> CBORValue {
        .map(CBORMap(entries: entries.map { CBORMap.Entry(key: $0.0, value: $0.1) }))
    }

    @Test(
        arguments: [
            ("00", 0), ("01", 1), ("0a", 10), ("17", 23), ("1818", 24), ("1819", 25), ("1864", 100), ("1903e8", 1000),
            ("1a000f4240", 1_000_000), ("1b000000e8d4a51000", 1_000_000_000_000), ("1bffffffffffffffff", .max),
        ] as [(String, UInt64)]
    )
    func `Integers from 0 are read`(text: String, number: UInt64) throws {
        #expect(try CBORReader.whole(Self.hex(text)) == .unsigned(number))
        #expect(try CBORReader.whole(Self.hex(text)).integer == Int64(exactly: number))
    }

    @Test(
        arguments: [
            ("20", -1), ("29", -10), ("3863", -100), ("3903e7", -1000), ("3b7fffffffffffffff", .min),
            ("3bffffffffffffffff", nil), ("3b8000000000000000", nil),
        ] as [(String, Int64?)]
    )
    func `Negative integers are read`(text: String, number: Int64?) throws {
        let value = try CBORReader.whole(Self.hex(text))
        guard case .negative = value else { throw CBORError.unsupported }
        #expect(value.integer == number)
    }

    @Test func `Strings, arrays, maps and simple values are read`() throws {
        let digits = CBORValue.array((1...25).map { .unsigned($0) })
        let accepted: [(String, CBORValue)] = [
            ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null), ("40", .bytes([])),
            ("4401020304", .bytes([1, 2, 3, 4])), ("60", .text("")), ("6161", .text("a")),
            ("6449455446", .text("IETF")),
            ("62225c", .text("\"\\")), ("62c3bc", .text("\u{fc}")), ("63e6b0b4", .text("\u{6c34}")),
            ("64f0908591", .text("\u{10151}")), ("80", .array([])),
            ("83010203", .array([.unsigned(1), .unsigned(2), .unsigned(3)])),
            (
                "8301820203820405",
                .array([
                    .unsigned(1), .array([.unsigned(2), .unsigned(3)]), .array([.unsigned(4), .unsigned(5)]),
                ])
            ),
            ("98190102030405060708090a0b0c0d0e0f101112131415161718181819", digits), ("a0", Self.map()),
            ("a201020304", Self.map((.unsigned(1), .unsigned(2)), (.unsigned(3), .unsigned(4)))),
            (
                "a26161016162820203",
                Self.map((.text("a"), .unsigned(1)), (.text("b"), .array([.unsigned(2), .unsigned(3)])))
            ),
            ("826161a161626163", .array([.text("a"), Self.map((.text("b"), .text("c")))])),
            (
                "a56161614161626142616361436164614461656145",
                Self.map(
                    (.text("a"), .text("A")),
                    (.text("b"), .text("B")),
                    (.text("c"), .text("C")),
                    (.text("d"), .text("D")),
                    (.text("e"), .text("E"))
                )
            ),
        ]
        for (text, value) in accepted {
            #expect(try CBORReader.whole(Self.hex(text)) == value, "\(text)")
            try Self.expectTruncationIsRejected(text)
        }
    }

    /// Every cut of a good item.
    private static func expectTruncationIsRejected(_ text: String) throws {
        let bytes = try hex(text)
        for count in 0..<bytes.count {
            #expect(throws: CBORError.truncated, "\(text) cut at \(count)") {
                try CBORReader.whole(bytes.prefix(count))
            }
        }
        #expect(throws: CBORError.trailing) { try CBORReader.whole(bytes + [0]) }
    }

    @Test(arguments: [
        // Bignums and other tags.
        "c249010000000000000000", "c349010000000000000000", "c074323031332d30332d32315432303a30343a30305a",
        "c11a514b67b0",
        "c1fb41d452d9e2000000", "d74401020304", "d818456449455446",
        "d82076687474703a2f2f7777772e6578616d706c652e636f6d",
        // Floats.
        "f90000", "f98000", "f93c00", "fb3ff199999999999a", "f93e00", "f97bff", "fa47c35000", "fa7f7fffff",
        "fb7e37e43c8800759c", "f90001", "f90400", "f9c400", "fbc010666666666666", "f97c00", "f97e00", "f9fc00",
        "fa7f800000", "fa7fc00000", "faff800000", "fb7ff0000000000000", "fb7ff8000000000000", "fbfff0000000000000",
        // Undefined and other simple values, and heads that are reserved.
        "f7", "f0", "f8ff", "f800", "1c", "3d", "5e", "7c", "9d", "bc", "dc", "fc",
        // Keys that are no integer or text.
        "a14000", "a18000", "a1a000", "a1f500", "a1f600",
    ])
    func `Kinds that no authenticator needs are rejected`(text: String) throws {
        #expect(throws: CBORError.unsupported) { try CBORReader.whole(Self.hex(text)) }
    }

    @Test(arguments: [
        "5f42010243030405ff", "7f657374726561646d696e67ff", "9fff", "9f018202039f0405ffff", "9f01820203820405ff",
        "83018202039f0405ff", "83019f0203ff820405", "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff",
        "bf61610161629f0203ffff", "826161bf61626163ff", "bf6346756ef563416d7421ff", "ff", "1f", "3f", "82ff00",
    ])
    func `Indefinite lengths are rejected`(text: String) throws {
        #expect(throws: CBORError.indefiniteLength) { try CBORReader.whole(Self.hex(text)) }
    }

    @Test(arguments: [
        "1800", "1817", "190000", "1900ff", "1a00000000", "1a0000ffff", "1b0000000000000000", "1b00000000ffffffff",
        "3817", "3900ff", "580100", "59000100", "780161", "9800", "980100", "b800", "b8010000", "99000100",
    ])
    func `Longer spellings of numbers and lengths are rejected`(text: String) throws {
        #expect(throws: CBORError.notShortest) { try CBORReader.whole(Self.hex(text)) }
    }

    @Test(arguments: ["a201000100", "a220002000", "a2616100616100", "a3010002000100"])
    func `A key that comes twice is rejected`(text: String) throws {
        #expect(throws: CBORError.duplicateKey) { try CBORReader.whole(Self.hex(text)) }
    }

    @Test func `Keys that are alike but not the same are two`() throws {
        // 1 and −1 and "1"; a K and a Kelvin sign, which are equal to `String`.
        let map = try CBORReader.whole(Self.hex("a501002001613102614b0363e284aa04")).map
        #expect(map?[1]?.integer == 0 && map?[-1]?.integer == 1 && map?["1"]?.integer == 2)
        #expect(map?["K"]?.integer == 3 && map?["\u{212a}"]?.integer == 4 && map?["k"] == nil && map?[2] == nil)
    }

    @Test(arguments: ["61ff", "62c328", "63eda080", "64f4908080", "62c0af", "6180"])
    func `Text that is not UTF-8 is rejected`(text: String) throws {
        #expect(throws: CBORError.invalidText) { try CBORReader.whole(Self.hex(text)) }
    }

    @Test(arguments: [
        "5b7fffffffffffffff", "5bffffffffffffffff", "7bffffffffffffffff", "9bffffffffffffffff", "9b7fffffffffffffff",
        "bbffffffffffffffff", "bb7fffffffffffffff", "bb4000000000000000", "5affffffff00", "9affffffff00",
        "baffffffff00", "9a0001000000", "a2000000", "830000",
    ])
    func `A length beyond the end is rejected before anything is allocated`(text: String) throws {
        #expect(throws: CBORError.truncated) { try CBORReader.whole(Self.hex(text)) }
    }

    @Test func `Nesting ends at four`() throws {
        func nested(_ depth: Int, _ head: [UInt8]) -> ArraySlice<UInt8> {
            (Array(repeatElement(head, count: depth).joined()) + [0x00])[...]
        }
        for head in [[0x81], [0xa1, 0x00]] as [[UInt8]] {
            _ = try CBORReader.whole(nested(4, head))
            for depth in [5, 6, 100_000] {
                #expect(throws: CBORError.tooDeep) { try CBORReader.whole(nested(depth, head)) }
            }
        }
        // Four is the depth, not the number.
        _ = try CBORReader.whole(Self.hex("8681818100818181008180818000a0"))
    }

    @Test func `There is a maximum of items`() throws {
        func zeros(_ count: UInt8) -> [UInt8] { [0x98, count] + [UInt8](repeating: 0, count: Int(count)) }
        // One array around two: 3 heads.
        _ = try CBORReader.whole(([0x82] + zeros(255) + zeros(254))[...])
        #expect(throws: CBORError.tooManyItems) { try CBORReader.whole(([0x82] + zeros(255) + zeros(255))[...]) }
    }

    @Test func `The reader says how far it came`() throws {
        var reader = CBORReader([9, 0xa1, 0x01, 0x41, 0x02, 0x17, 0xff][1...])
        #expect(try reader.value().map?[1]?.bytes == [2])
        #expect(reader.position == 5)
        #expect(try reader.value() == .unsigned(23))
        #expect(reader.position == 6)
    }
}
