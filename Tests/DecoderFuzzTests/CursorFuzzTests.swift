import InvitesDomain
import JOSE
import Models
import Postgres
import ServiceKit
import ServiceStore
import TestWaits
import Testing

@testable import IdentityService
@testable import InvitesService

/// Every payload of a cursor, with what the service does with it after it was opened. A trap ends the tests, which is how it is
/// seen.
struct CursorFuzzTests {
    private static let epoch = GroupPosition.Epoch(systemIdentifier: -7, id: PostgresUUID(high: 1, low: .max))
    private static let database = DatabaseIdentity(systemIdentifier: 7, timeline: 1)

    private static func position(_ text: String) throws -> GroupPosition {
        GroupPosition(
            epoch: epoch,
            madeAtSeconds: 1_700_000_000,
            place: .snapshot(GroupLogPoint(try #require(DatabaseSnapshot(text: text))))
        )
    }

    @Test(arguments: ["1:1:", "10:20:10,15,19", "4294967296:8589934590:4294967296,4294967298"])
    func `A position of groups is none, or one that is compared and written`(text: String) throws {
        let now = try Self.position("1000:2000:1000")
        let whole = try Self.position(text)
        // Inside a transaction: the first that isn't known, and one that is under way.
        let snapshot = try #require(whole.place.point).snapshot
        let inside = try ([snapshot.upper] + snapshot.underWay).map { transaction in
            let partial = GroupLogPoint.Row(transaction: transaction, id: 7)
            return GroupPosition(
                epoch: Self.epoch,
                madeAtSeconds: 1_700_000_000,
                place: .snapshot(try #require(GroupLogPoint(snapshot, partial: partial)))
            )
        }
        for good in [whole] + inside { try fuzzGroups(good, now) }
    }

    @Test func `A position of groups by the clock is none, or one that is compared and written`() throws {
        func position(_ end: Int64) -> GroupPosition {
            GroupPosition(epoch: Self.epoch, madeAtSeconds: 1_700_000_000, place: .clock(ClockWindow(end: end)))
        }
        try fuzzGroups(position(1_700_000_000_000_000), position(1_700_000_000_000_001))
    }

    private func fuzzGroups(_ good: GroupPosition, _ now: GroupPosition) throws {
        try fuzz(good) { position in
            for kept: Int64 in [.min, -1, 0, 1, 86_400, .max] {
                _ = position.isGood(at: now, keptSeconds: kept)
                _ = now.isGood(at: position, keptSeconds: kept)
            }
            switch position.place {
            case .snapshot(let point):
                _ = (point.unread, point.partialText, point.partialID)
                guard let head = now.place.point?.snapshot else { return }
                for transaction: UInt64 in [0, 1, 1_999, .max] {
                    let row = GroupLogPoint.Row(transaction: transaction, id: .min)
                    _ = point.advanced(to: row, readBy: head)
                }
                // PostgreSQL refuses a snapshot that is none, and with it what is asked in the same statement.
                #expect(DatabaseSnapshot(text: point.snapshot.text) == point.snapshot)
            case .clock(let window):
                _ = (window.start, window.missedFrom, window.leftOut)
                for microseconds in [Int64.min, 0, .max] {
                    _ = window.advanced(by: [.init(id: 1, microseconds: microseconds)], now: nil)?.start
                }
            }
        }
    }

    @Test func `A position of revocations is none, or one that is compared and written`() throws {
        let position = RevocationPosition(database: Self.database, horizon: 1 << 40, madeAtSeconds: 1_700_000_000)
        let read = RevocationsRead(
            seen: .snapshot(RevocationSnapshot(text: "1000:2000:1000")),
            database: Self.database,
            epoch: nil,
            sessionIDs: [],
            accountChanges: [],
            last: nil
        )
        try fuzz(position) { position in
            for now: Int64 in [.min, .min + 1, -1, 0, 1_700_000_000, .max] {
                _ = position.isGood(for: read, nowSeconds: now)
            }
            for doubt: UInt64 in [0, 1, 1_000_000] { _ = RevocationSnapshot.doubted(position.horizon, by: doubt) }
        }
    }

    @Test func `A place in a list is none, or one that is written`() throws {
        try fuzz(Page.Cursor(GroupID(high: 0x0190_163D_8694_739B, low: 5))) { _ = try Page(size: 0, after: $0) }
        try fuzz(EventCursor(last: EventID(high: 0x0190_163D_8694_739B, low: 5))) { _ = $0.last.description }
        let account = AccountCursor(
            createdAtMicroseconds: 1_790_000_000_000_000,
            userID: UserID(high: 0x0190_163D_8694_739B, low: 5)
        )
        try fuzz(account) { _ = PostgresTimestamp(microsecondsSince1970: $0.createdAtMicroseconds).milliseconds }
    }

    /// Decodes inputs made of a good value; whatever comes out is used, and written as it was read.
    private func fuzz<Payload: CursorPayload & Equatable>(_ good: Payload, _ use: (Payload) throws -> Void) throws {
        let inputs = EdgeInputs(good: good.bytes)
        #expect(try Payload(parsing: good.bytes[...]) == good)
        var random = SeededRandom(seed: SeededRandom.seed)
        let changed = (0..<SeededRandom.rounds).map { _ in inputs.changed(&random) }
        var count = 0
        for input in inputs.all + changed {
            guard let value = try? Payload(parsing: input[...]) else { continue }
            count += 1
            try use(value)
            let again = try Payload(parsing: value.bytes[...])
            #expect(try Payload(parsing: again.bytes[...]) == again, "\(input)")
        }
        #expect(count > 0, "some inputs are good")
        try expectSealed(good, inputs, changed)
    }

    /// Opens sealed inputs: nothing but what was sealed, for its scope, opens.
    private func expectSealed<Payload: CursorPayload & Equatable>(
        _ good: Payload,
        _ inputs: EdgeInputs,
        _ changed: [[UInt8]]
    ) throws {
        let (key, other) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
        let seal = try #require(CursorSeal(keys: [key, other]))
        let scope = CursorScope(method: "List", account: "a", group: "g")
        let cursor = seal.seal(good, for: scope)
        func open(_ bytes: [UInt8], _ seal: CursorSeal, _ scope: CursorScope) -> Payload? {
            try? seal.open(bytes, for: scope)
        }
        #expect(open(cursor, seal, scope) == good)
        let sealed = EdgeInputs(good: cursor)
        for input in sealed.cut + sealed.flipped { #expect(open(input, seal, scope) == nil, "\(input)") }
        for input in inputs.all + changed { #expect(open(input, seal, scope) == nil, "\(input)") }
        let scopes = [
            CursorScope(method: "List", account: "a"), CursorScope(method: "List", account: "ag"),
            CursorScope(method: "Lista", account: "", group: "g"),
            CursorScope(method: "List", account: "", group: "ag"),
            CursorScope(method: "List", account: "g", group: "a"),
            CursorScope(method: "Other", account: "a", group: "g"),
        ]
        for scope in scopes { #expect(open(cursor, seal, scope) == nil, "\(scope)") }
        // Other keys: the one before opens, one that is gone doesn't.
        #expect(open(try #require(CursorSeal(keys: [other])).seal(good, for: scope), seal, scope) == good)
        #expect(open(cursor, try #require(CursorSeal(keys: [other])), scope) == nil)
        // A gateway seals with the scope's key as the service does.
        #expect(seal.key(for: scope).seal(good.bytes) == cursor)
        // As text.
        let text = seal.text(good, for: scope)
        let opened: Payload = try seal.open(text: text, for: scope)
        #expect(opened == good)
        for bad in [text + "A", String(text.dropLast()), "", "=", text + "=", String(repeating: "A", count: 100_000)] {
            #expect(throws: CursorError.self) { let _: Payload = try seal.open(text: bad, for: scope) }
        }
    }
}
