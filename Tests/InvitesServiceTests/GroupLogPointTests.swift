import Postgres
import ServiceKit
import Testing

@testable import InvitesService

struct GroupLogPointTests {
    /// A log that transactions write which begin and commit in any order.
    private struct Log {
        var next: UInt64 = 100
        var lastID: Int64 = 0
        var open: [UInt64: [GroupLogPoint.Row]] = [:]
        var committed: [GroupLogPoint.Row] = []

        var snapshot: DatabaseSnapshot? {
            let underWay = open.keys.sorted()
            return DatabaseSnapshot(horizon: underWay.first ?? next, upper: next, underWay: underWay)
        }

        mutating func step(_ random: inout SeededGenerator) {
            switch Int.random(in: 0..<6, using: &random) {
            // No more than a position has.
            case 0,
                1 where open.count < 50:
                open[next] = []
                next += 1
            case 2, 3, 4:
                guard let transaction = open.keys.sorted().randomElement(using: &random) else { return }
                for _ in 0..<Int.random(in: 1...5, using: &random) {
                    lastID += 1
                    open[transaction]?.append(GroupLogPoint.Row(transaction: transaction, id: lastID))
                }
            default:
                guard let transaction = open.keys.sorted().randomElement(using: &random) else { return }
                committed += open.removeValue(forKey: transaction) ?? []
            }
        }

        /// What a statement reads behind a point: the rows that are asked for as `GroupEventStore` asks for them.
        func page(behind point: GroupLogPoint, limit: Int) -> [GroupLogPoint.Row] {
            let unread = point.unread
            let late = Set(unread.late.compactMap { UInt64($0) })
            let (from, partial) = (UInt64(unread.from) ?? 0, UInt64(point.partialText))
            let rows = committed.filter { row in
                late.contains(row.transaction) || row.transaction >= from
                    || row.transaction == partial && row.id > point.partialID
            }
            func place(_ row: GroupLogPoint.Row) -> (Int, UInt64, Int64) {
                (row.transaction == partial ? 0 : 1, row.transaction, row.id)
            }
            return Array(rows.sorted { place($0) < place($1) }.prefix(limit))
        }
    }

    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func `Each row is read once, by whatever pages and in whatever order transactions end`(seed: UInt64) throws {
        var random = SeededGenerator(state: seed)
        var log = Log()
        let limit = Int.random(in: 1...4, using: &random)
        var point = GroupLogPoint(try #require(log.snapshot))
        var read: [GroupLogPoint.Row] = []
        for step in 0..<1_500 {
            if step < 300 {
                log.step(&random)
            } else {
                for open in log.open.keys { log.committed += log.open.removeValue(forKey: open) ?? [] }
            }
            guard step >= 300 || Bool.random(using: &random) else { continue }
            let head = try #require(log.snapshot)
            let page = log.page(behind: point, limit: limit)
            read += page
            let next = page.count < limit ? GroupLogPoint(head) : point.advanced(to: page[limit - 1], readBy: head)
            let after = try #require(next)
            #expect(after.contains(point) && GroupLogPoint(head).contains(after))
            #expect(page.isEmpty || !point.contains(after))
            // As an app gives it back.
            let epoch = GroupPosition.Epoch(systemIdentifier: 1, id: PostgresUUID(high: 1, low: 1))
            let position = GroupPosition(epoch: epoch, madeAtSeconds: 1, point: after)
            #expect(GroupPosition(given: position.bytes) == position && position.bytes.count <= GroupPosition.bytesMax)
            point = after
            if step >= 300, page.count < limit { break }
        }
        #expect(Set(read).count == read.count, "seed \(seed)")
        #expect(Set(read) == Set(log.committed), "seed \(seed)")
    }

    @Test func `A part is of a transaction that the snapshot does not see`() throws {
        let snapshot = try #require(DatabaseSnapshot(text: "10:20:10,15"))
        for transaction in [10, 15, 20] as [UInt64] {
            let row = GroupLogPoint.Row(transaction: transaction, id: 1)
            #expect(GroupLogPoint(snapshot, partial: row) != nil)
        }
        for transaction in [0, 9, 11, 19, 21, .max] as [UInt64] {
            #expect(GroupLogPoint(snapshot, partial: GroupLogPoint.Row(transaction: transaction, id: 1)) == nil)
        }
    }

    @Test func `With too many under way a position forgets the part, and is no later for it`() throws {
        let many = try #require(DatabaseSnapshot(horizon: 100, upper: 400, underWay: Array(100..<200)))
        let point = try #require(GroupLogPoint(many, partial: GroupLogPoint.Row(transaction: 150, id: 3)))
        let epoch = GroupPosition.Epoch(systemIdentifier: 1, id: PostgresUUID(high: 1, low: 1))
        let read = try #require(
            GroupPosition(given: GroupPosition(epoch: epoch, madeAtSeconds: 1, point: point).bytes)
        )
        #expect(read.point == GroupLogPoint(try #require(DatabaseSnapshot(text: "100:100:"))))
        #expect(point.contains(read.point))
    }

    @Test(arguments: [1, 2, 37, 500, 999, 1_000])
    func `A row that makes polls fail is found alone within a few polls`(place: Int) {
        var size = GroupEventBatchSize(max: 1_000)
        var (passed, looks) = (0, 0)
        while size.failuresAlone == 0 {
            looks += 1
            let count = size.count
            if passed + count >= place {
                size.failed(count)
            } else {
                size.succeeded(count)
                passed += count
            }
        }
        #expect(passed == place - 1 && looks <= 14)
        size.succeeded(1)
        #expect(size.count == 1_000 && !size.isSearching)
    }
}
