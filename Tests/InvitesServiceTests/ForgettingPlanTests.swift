import Models
import Postgres
import ServiceKit
import ServiceModels
import TestDatabases
import Testing

@testable import InvitesService

/// What closing an account costs where there are many others.
@Suite(.timeLimit(.minutes(5)))
struct ForgettingPlanTests {
    private static let userID = UserID(high: 0xC4CA_4238_A0B9_2382, low: 0x0DCC_509A_6F75_849B)

    @Test func `Closing an account reads no table whole, nor the groups that it was in`() async throws {
        let facts = try await TestDatabase.fresh(schema: "invites", hasOwner: true)
        try await InvitesFixture.run(on: facts) { service in
            for statement in Self.people + Self.largeGroups {
                try await service.database.execute(Query(unsafeSQL: statement))
            }
            try await Self.analyze(facts)
            #expect(try await service.count("SELECT count(*) FROM members WHERE user_id = '\(Self.userID)'") == 301)
            let counts: Query =
                "SELECT relname, coalesce(seq_tup_read, 0), coalesce(idx_scan, 0), coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables"
            func read() async throws -> [String: (whole: Int64, byIndex: Int64, fetched: Int64)] {
                // What a session has counted it tells about once a second, when it is asked something.
                for _ in 0..<2 {
                    try await Task.sleep(for: .milliseconds(700))
                    await withTaskGroup(of: Void.self) { tasks in
                        for _ in 0..<32 {
                            tasks.addTask { _ = try? await service.database.query("SELECT pg_sleep(0.02)") }
                        }
                    }
                }
                return try await service.database.query(counts).reduce(into: [:]) { counts, row in
                    let (name, whole, byIndex, fetched) = try row.decode(
                        String.self,
                        Int64.self,
                        Int64.self,
                        Int64.self
                    )
                    counts[name] = (whole, byIndex, fetched)
                }
            }
            let before = try await read()
            let accounts = service.parts.methods.accounts
            try await accounts.close(Self.userID, clock: service.clock.clock, deadline: nil)
            #expect(try await accounts.forget(Self.userID, until: .now.advanced(by: .seconds(120))))
            var after = try await read()
            // All that a session has counted comes at once, later on a busy machine.
            for _ in 0..<20 where after["members"]!.byIndex <= before["members"]!.byIndex { after = try await read() }
            #expect(after["members"]!.byIndex > before["members"]!.byIndex, "nothing was counted")
            for (name, count) in after {
                let whole = count.whole - (before[name]?.whole ?? 0)
                #expect(whole < 1_000, "\(name)")
            }
            // Of the 60,000 members of the large groups the user is, has added or has confirmed one in seventy.
            // On a busy machine parts run into their deadline and are repeated.
            let fetched = after["members"]!.fetched - before["members"]!.fetched
            #expect(fetched > 300 && fetched < 40_000, "\(fetched)")
            let left = try await AccountStore(database: service.database).trace(Self.userID).held
            #expect(left.filter { $0.count > 0 }.map(\.name) == [])
        }
    }

    /// The user, and 199 others, in 300 of many groups.
    private static let largeGroups = [
        """
        INSERT INTO groups (group_id, name, owner_user_id, created_by, created_at)
        SELECT md5('e' || i)::uuid, 'Elsewhere', md5('o' || i)::uuid, md5('o' || i)::uuid, now() \(twentyThousand)
        """,
        """
        INSERT INTO groups (group_id, name, owner_user_id, created_by, created_at)
        SELECT md5('b' || g)::uuid, 'Crowd', md5('o' || g)::uuid, md5('o' || g)::uuid, now() FROM generate_series(1, 300) g
        """,
        """
        INSERT INTO members (group_id, member_id, user_id, added_by, also_added_by, confirmed_by, added_at, linked_at)
        SELECT md5('b' || g)::uuid, md5(g || 'n' || i)::uuid, CASE i WHEN 1 THEN '\(userID)' ELSE md5(g || 'p' || i)::uuid END,
            CASE i WHEN 2 THEN '\(userID)' ELSE md5('o' || g)::uuid END,
            CASE i WHEN 3 THEN ARRAY['\(userID)']::uuid[] ELSE '{}' END, CASE i WHEN 4 THEN '\(userID)'::uuid END, now(), now()
        FROM generate_series(1, 300) g, generate_series(1, 200) i
        """,
    ]

    private static let person = "md5(i::text)::uuid"
    private static let another = "md5((i * 7 % 20000 + 1)::text)::uuid"
    private static let group = "md5('g' || i % 400)::uuid"
    private static let twentyThousand = "FROM generate_series(1, 20000) i"

    /// 40,000 members, of whom half are awaited, in 400 groups, with all that hangs on people.
    private static let people = [
        """
        INSERT INTO groups (group_id, name, owner_user_id, created_by, created_at)
        SELECT \(group), 'Hikers', \(person), \(person), now() FROM generate_series(1, 400) i
        """,
        """
        INSERT INTO members (group_id, member_id, user_id, phone, added_by, added_at, linked_at)
        SELECT \(group), md5('m' || i)::uuid, \(person), (639170000000 + i)::text, \(another), now(), now() \(twentyThousand)
        """,
        """
        INSERT INTO members (group_id, member_id, phone, added_by, added_at, declined_by)
        SELECT \(group), md5('p' || i)::uuid, (639180000000 + i)::text, \(another), now(), CASE WHEN i % 10 = 0 THEN \(another) END
        \(twentyThousand)
        """,
        "INSERT INTO phones (phone, user_id) SELECT (639170000000 + i)::text, \(person) \(twentyThousand)",
        "INSERT INTO phones (phone) SELECT (639180000000 + i)::text \(twentyThousand)",
        """
        INSERT INTO merged_numbers (user_id, phone, group_id, member_id, added_by, added_at)
        SELECT \(person), (639190000000 + i)::text, \(group), md5('n' || i)::uuid, \(another), now() \(twentyThousand)
        """,
        """
        INSERT INTO blocked_inviters (user_id, inviter_user_id, blocked_at)
        SELECT \(person), \(another), now() \(twentyThousand) ON CONFLICT DO NOTHING
        """,
        """
        INSERT INTO join_requests (group_id, user_id, member_id, requested_at)
        SELECT md5('g' || i % 399)::uuid, \(person), md5('r' || i)::uuid, now() FROM generate_series(1, 20000) i WHERE i % 399 > 0
        """,
        """
        INSERT INTO group_links (link_id, group_id, secret_hash, created_by, created_at, expires_at)
        SELECT md5('l' || i)::uuid, \(group), sha256('x'), \(person), now(), now() FROM generate_series(1, 20000) i
        """,
        "INSERT INTO group_link_uses SELECT md5('l' || i)::uuid, \(another), now() FROM generate_series(1, 20000) i",
        "INSERT INTO asked_numbers SELECT \(person), substr(sha256(i::text::bytea), 1, 16), now() \(twentyThousand)",
        "INSERT INTO group_keys SELECT \(person), md5('k' || i)::uuid, \(group), sha256('x'), now() \(twentyThousand)",
        "INSERT INTO quotas SELECT uuid_send(\(person)), 'adds', 1, now() \(twentyThousand)",
        "INSERT INTO closed_accounts (user_id, closed_at) SELECT md5('c' || i)::uuid, now() \(twentyThousand)",
        "INSERT INTO held_accounts SELECT md5('h' || i)::uuid, md5('a' || i)::uuid, now() FROM generate_series(1, 20000) i",
    ]

    private static func analyze(_ facts: TestDatabase) async throws {
        let statistics = Migration(number: InvitesMigrations.all.count + 1, name: "statistics", sql: "ANALYZE")
        try await Migrator(facts.ownerConfiguration).run(InvitesMigrations.all + [statistics], schema: facts.schema)
    }
}
