import Bytes
import Testing

struct DERReaderTests {
    @Test func `Elements are read in order, each with its tag`() throws {
        var reader = DERReader([0x30, 0x08, 0x02, 0x01, 0x05, 0x04, 0x03, 1, 2, 3, 0x0a, 0x01, 0x02])
        var inner = try reader.elements(.sequence)
        #expect(try inner.number() == 5)
        #expect(!inner.isAtEnd)
        #expect(throws: DERError.trailing) { try inner.finish() }
        #expect(try inner.content(.octetString) == [1, 2, 3])
        try inner.finish()
        #expect(try reader.number(.enumerated) == 2)
        try reader.finish()
        #expect(throws: DERError.truncated) { try reader.element() }
    }

    @Test func `Tags of several bytes are read`() throws {
        var reader = DERReader([0xbf, 0x85, 0x3e, 0x03, 0x02, 0x01, 0x00, 0x9f, 0x1f, 0x00])
        var inner = try reader.elements(.explicit(702))
        #expect(try inner.number() == 0)
        let element = try reader.element()
        #expect(element.tag == DERTag(class: 2, isConstructed: false, number: 31) && element.content.isEmpty)
    }

    @Test(
        arguments: [(0x7f, [0x7f]), (0x80, [0x81, 0x80]), (0x100, [0x82, 1, 0]), (0x10000, [0x83, 1, 0, 0])]
            as [(Int, [UInt8])]
    )
    func `Lengths are read in their shortest form`(count: Int, length: [UInt8]) throws {
        var reader = DERReader([0x04] + length + [UInt8](repeating: 7, count: count))
        #expect(try reader.content(.octetString).count == count)
        try reader.finish()
    }

    @Test(
        arguments: [
            ([0x04, 0x81, 0x7f], .notCanonical), ([0x04, 0x82, 0x00, 0x80], .notCanonical),
            ([0x30, 0x80, 0, 0], .notCanonical),
            ([0x04, 0x84, 1, 0, 0, 0], .tooLarge), ([0x04, 0x82, 0x01], .truncated), ([0x04, 0x02, 1], .truncated),
            ([0x04], .truncated),
            ([], .truncated), ([0xbf], .truncated), ([0xbf, 0x80, 0x81], .notCanonical),
            ([0xbf, 0x1e, 0], .notCanonical),
            ([0xbf, 0x81, 0x80, 0x80, 0x80, 0x00], .tooLarge), ([0x02, 1, 0], .unexpected),
        ] as [([UInt8], DERError)]
    )
    func `Other spellings and other tags are rejected`(bytes: [UInt8], error: DERError) {
        var reader = DERReader(bytes)
        #expect(throws: error) { try reader.content(.octetString) }
    }

    @Test(
        arguments: [
            ([0x02, 0], .unexpected), ([0x02, 1, 0x80], .unexpected), ([0x02, 2, 0, 0x7f], .notCanonical),
            ([0x02, 5, 0, 0x80, 0, 0, 0], .unexpected),
        ] as [([UInt8], DERError)]
    )
    func `Negative, padded and large numbers are rejected`(bytes: [UInt8], error: DERError) {
        var reader = DERReader(bytes)
        #expect(throws: error) { try reader.number() }
    }

    @Test(
        arguments: [([0x02, 1, 0], 0), ([0x02, 2, 0, 0x80], 128), ([0x02, 4, 0x7f, 0xff, 0xff, 0xff], 0x7fff_ffff)]
            as [([UInt8], Int)]
    )
    func `Numbers are read`(bytes: [UInt8], number: Int) throws {
        var reader = DERReader(bytes)
        #expect(try reader.number() == number)
    }
}
