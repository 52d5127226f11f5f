import Testing

@testable import RPC

struct UniqueIDsTests {
    private static let digits = Set("0123456789abcdef")

    @Test func `Ids have their length, their digits, and no twin`() async {
        let made = await withTaskGroup(of: [String].self) { group in
            for _ in 0..<4 {
                group.addTask { (0..<5_000).flatMap { _ in [UniqueIDs.digits16(), UniqueIDs.digits32()] } }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(made.count == 40_000)
        #expect(Set(made).count == made.count)
        #expect(made.count { $0.utf8.count == 16 } == 20_000)
        #expect(made.count { $0.utf8.count == 32 } == 20_000)
        #expect(made.allSatisfy { $0.allSatisfy(Self.digits.contains) })
    }

    @Test func `Each bit is set in about half of them`() throws {
        let ids = (0..<4_000).map { _ in UniqueIDs.digits32() }
        for half in [0, 16] {
            let numbers = try ids.map { id in
                try #require(UInt64(id.dropFirst(half).prefix(16), radix: 16))
            }
            for bit in 0..<64 {
                let count = numbers.count { $0 >> UInt64(bit) & 1 == 1 }
                #expect(1_750..<2_250 ~= count, "bit \(bit) of the half at \(half)")
            }
        }
    }
}
