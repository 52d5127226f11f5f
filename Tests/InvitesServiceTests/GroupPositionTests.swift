import Postgres
import ServiceKit
import Testing

@testable import InvitesService

struct GroupPositionTests {
    private static let epoch = GroupPosition.Epoch(systemIdentifier: -7, id: PostgresUUID(high: 1, low: .max))

    private static func position(_ snapshot: DatabaseSnapshot) -> GroupPosition {
        GroupPosition(epoch: epoch, madeAtSeconds: 1_700_000_000, snapshot: snapshot)
    }

    @Test(arguments: ["1:1:", "10:20:10,15,19", "4294967296:8589934590:4294967296"])
    func `A position is read as it was written`(text: String) throws {
        let snapshot = try #require(DatabaseSnapshot(text: text))
        #expect(snapshot.text == text)
        let position = Self.position(snapshot)
        #expect(position.bytes.count <= GroupPosition.bytesMax)
        #expect(GroupPosition(given: position.bytes) == position)
    }

    @Test(arguments: [
        "", "1:1", "0:1:", "5:4:", "5:9:4", "5:9:9", "5:9:7,6", "5:9:6,6", "5:9:x", "-1:3:", "1:1:1",
        "1:18446744073709551615:",
    ])
    func `A malformed snapshot is rejected`(text: String) {
        #expect(DatabaseSnapshot(text: text) == nil)
    }

    @Test func `With too many under way a position goes back to the oldest`() throws {
        let many = try #require(DatabaseSnapshot(horizon: 100, upper: 400, underWay: Array(100..<200)))
        #expect(GroupPosition(given: Self.position(many).bytes)?.snapshot == DatabaseSnapshot(text: "100:100:"))
        let wide = try #require(DatabaseSnapshot(horizon: 100, upper: 100 + (1 << 33), underWay: [100]))
        #expect(GroupPosition(given: Self.position(wide).bytes)?.snapshot == DatabaseSnapshot(text: "100:100:"))
    }

    /// A position comes back from an app, and any time can stand in it.
    @Test func `A position of any time is compared without a trap`() async {
        await #expect(processExitsWith: .success) {
            let snapshot = try #require(DatabaseSnapshot(text: "10:20:"))
            let epoch = GroupPositionTests.epoch
            let edges: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
            for madeAt in edges {
                for now in edges {
                    for kept in edges {
                        let position = GroupPosition(epoch: epoch, madeAtSeconds: madeAt, snapshot: snapshot)
                        let read = GroupPosition(epoch: epoch, madeAtSeconds: now, snapshot: snapshot)
                        _ = position.isGood(at: read, keptSeconds: kept)
                    }
                }
            }
        }
    }

    @Test(arguments: [
        (Int64.min, false), (.max, false), (1_699_999_599, false), (1_699_999_600, false), (1_699_999_601, true),
        (1_700_000_000, true), (1_700_000_001, false),
    ])
    func `A position is good while what came after it is kept`(madeAt: Int64, isGood: Bool) throws {
        let snapshot = try #require(DatabaseSnapshot(text: "10:20:"))
        let position = GroupPosition(epoch: Self.epoch, madeAtSeconds: madeAt, snapshot: snapshot)
        #expect(position.isGood(at: Self.position(snapshot), keptSeconds: 1_000) == isGood)
    }

    /// PostgreSQL would refuse a malformed snapshot, and with it the whole statement.
    @Test(arguments: [UInt64(20_261_123)])
    func `Random bytes are either an invalid position or a valid snapshot`(seed: UInt64) throws {
        var random = SeededGenerator(state: seed)
        let good = Self.position(try #require(DatabaseSnapshot(text: "10:20:10,15,19"))).bytes
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                switch Int.random(in: 0..<3, using: &random) {
                case 0 where !bytes.isEmpty:
                    bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: .min ... .max, using: &random)
                case 1: bytes.removeLast(min(bytes.count, Int.random(in: 0..<8, using: &random)))
                default: bytes += (0..<4).map { _ in UInt8.random(in: .min ... .max, using: &random) }
                }
            }
            guard let position = GroupPosition(given: bytes) else { continue }
            #expect(DatabaseSnapshot(text: position.snapshot.text) == position.snapshot, "seed \(seed)")
        }
    }
}
