import Bytes
import Testing

struct ByteReaderTests {
    private struct Truncated: Error, Hashable {}

    @Test func `Bytes and integers are read in order, the most significant first`() throws {
        var reader = ByteReader([9, 1, 2, 3, 4, 255, 7, 8][1...], truncated: Truncated())
        #expect(try reader.byte() == 1)
        #expect(try reader.integer(UInt16.self) == 0x0203)
        #expect(try reader.integer(Int8.self) == 4)
        #expect(try reader.integer(Int8.self) == -1)
        #expect(reader.leftCount == 2 && !reader.isAtEnd)
        #expect(try reader.take(2) == [7, 8])
        #expect(reader.isAtEnd)
    }

    @Test func `Reading beyond the end throws and moves nothing`() throws {
        var reader = ByteReader([1, 2, 3], truncated: Truncated())
        for count in [4, .max, -1, .min] {
            #expect(throws: Truncated()) { try reader.take(count) }
        }
        #expect(throws: Truncated()) { try reader.integer(UInt64.self) }
        #expect(try reader.take(3) == [1, 2, 3])
        #expect(throws: Truncated()) { try reader.byte() }
        #expect(try reader.take(0) == [])
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max])
    func `An integer is read as it was appended`(value: Int64) throws {
        var bytes: [UInt8] = []
        bytes.append(integer: value)
        bytes.append(integer: UInt64(bitPattern: value))
        var reader = ByteReader(bytes[...], truncated: Truncated())
        #expect(try reader.integer(Int64.self) == value)
        #expect(try reader.integer() == UInt64(bitPattern: value))
    }

    @Test func `Skipping finds the next byte of a value, or moves nothing`() throws {
        var reader = ByteReader([1, 2, 3], truncated: Truncated())
        #expect(!reader.skip(to: 4) && reader.leftCount == 3)
        #expect(reader.skip(to: 3) && reader.leftCount == 1)
    }
}
