import API
import InvitesDomain
import Logging
import Models
import Postgres
import ServiceModels
import TestDatabases
import Testing

@testable import InvitesService

/// What watchers get if the database refuses some rows, as a damaged page or a query that takes too long would.
@Suite(.timeLimit(.minutes(5)))
struct GroupWatchFailureTests {
    /// Makes every statement fail that reads a row named in `poison`: a policy that applies to the service's role.
    private static let policies = """
        CREATE TABLE poison (id uuid PRIMARY KEY);
        CREATE FUNCTION is_whole(wanted uuid) RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            IF EXISTS (SELECT FROM poison WHERE id = wanted) THEN RAISE EXCEPTION 'a row can not be read'; END IF;
            RETURN true;
        END $$;
        ALTER TABLE members ENABLE ROW LEVEL SECURITY;
        CREATE POLICY whole ON members USING (is_whole(group_id)) WITH CHECK (true);
        ALTER TABLE group_events ENABLE ROW LEVEL SECURITY;
        CREATE POLICY whole ON group_events USING (is_whole(member_id)) WITH CHECK (true);
        ANALYZE;
        """

    /// Runs a test on a database with so many members that a group is read by an index.
    private static func run(_ body: (InvitesFixture, GroupEventHub) async throws -> Void) async throws {
        let facts = try await TestDatabase.fresh(schema: "invites", hasOwner: true)
        try await InvitesFixture.run(on: facts) { service in
            try await service.database.execute(
                """
                INSERT INTO groups (group_id, name, owner_user_id, created_by, created_at)
                SELECT md5('g' || i)::uuid, 'Hikers', gen_random_uuid(), gen_random_uuid(), now() FROM generate_series(1, 200) i
                """
            )
            try await service.database.execute(
                """
                INSERT INTO members (group_id, member_id, user_id, added_by, added_at, linked_at)
                SELECT md5('g' || (i % 200 + 1))::uuid, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), now()
                FROM generate_series(1, 20000) i
                """
            )
            let migration = Migration(number: InvitesMigrations.all.count + 1, name: "poison", sql: policies)
            try await Migrator(facts.ownerConfiguration).run(InvitesMigrations.all + [migration], schema: facts.schema)
            var limits = GroupEventHub.Limits()
            (limits.pollInterval, limits.retryInterval) = (.milliseconds(5), .milliseconds(1))
            let hub = GroupEventHub(
                store: GroupEventStore(database: service.database),
                limits: limits,
                logger: Logger(label: "test")
            )
            try await body(service, hub)
        }
    }

    private static func poison(_ id: PostgresUUID, _ service: InvitesFixture) async throws {
        try await service.database.execute("INSERT INTO poison (id) VALUES (\(id))")
    }

    @Test func `A change whose recipients can't be read resets possible ones, and the others still get events`()
        async throws
    {
        try await Self.run { service, hub in
            let (maria, ana, jose) = (someone(), someone(), someone())
            let (bad, good) = (try await service.group(by: maria), try await service.group(by: ana))
            try await TestWatch.run(hub) { watch in
                let (asMaria, asAna) = (try await watch.begin(maria), try await watch.begin(ana))
                var others: [InvitesV1.WatchBegun] = []
                for user in [jose] + (0..<20).map({ _ in someone() }) { others.append(try await watch.begin(user)) }
                // Before any of the group's events is sent.
                try await Self.poison(try #require(GroupID(bad)).uuid, service)
                try await service.database.execute(
                    """
                    INSERT INTO group_events (kind, group_id, member_id)
                    SELECT 'member.changed', CASE WHEN i = 300 THEN \(try #require(GroupID(bad)).uuid)
                        ELSE \(try #require(GroupID(good)).uuid) END,
                        CASE WHEN i IN (1, 600) THEN ('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid
                            ELSE '00000000-0000-0000-0000-000000000001' END
                    FROM generate_series(1, 600) i ORDER BY i
                    """
                )
                let end = try await service.group("End", by: jose)
                try await watch.wait(others[0], for: .groupJoined, in: end)
                try await watch.waitForReset(of: asMaria)
                #expect(watch.resets(of: asMaria) == 1 && watch.resets == 0)
                for begun in others + [asAna] { #expect(watch.resets(of: begun) == 0) }
                let told = Set(watch.told(asAna).filter { $0.groupID == good }.map(\.memberID).map { $0.suffix(3) })
                #expect(told.isSuperset(of: ["001", "600"]))
                #expect(hub.counts.skippedCount == 1 && hub.counts.count(of: .unresolved) == 1)
                #expect(hub.behindTime < .seconds(30))
            }
        }
    }

    @Test func `A log that can't be read is restarted behind the unreadable part, instead of being retried for ever`()
        async throws
    {
        try await Self.run { service, hub in
            let (maria, id) = (someone(), PostgresUUID(high: 7, low: 7))
            try await TestWatch.run(hub) { watch in
                let begun = try await watch.begin(maria)
                try await Self.poison(id, service)
                let first = try await service.group(by: maria)
                try await service.database.execute(
                    "INSERT INTO group_events (kind, group_id, member_id) VALUES ('member.changed', gen_random_uuid(), \(id))"
                )
                try await watch.waitForResets(1)
                // The events before it were delivered.
                try await watch.wait(begun, for: .groupJoined, in: first)
                let next = try await service.group(by: maria)
                try await watch.wait(begun, for: .groupJoined, in: next)
                #expect(watch.resets == 1 && hub.counts.count(of: .unreadable) == 1)
            }
        }
    }

    /// The first events are delivered before a poll that fails on later ones starts again.
    @Test(.readsLogsBySnapshots)
    func `Events of a transaction that ended late, and the rest of its page, are read without later ones`() async throws
    {
        try await Self.run { service, _ in
            let (store, id) = (GroupEventStore(database: service.database), PostgresUUID(high: 7, low: 7))
            var position = try await service.database.withTransaction { transaction in
                try await transaction.execute(
                    """
                    INSERT INTO group_events (kind, group_id, member_id)
                    SELECT 'member.changed', gen_random_uuid(), gen_random_uuid() FROM generate_series(1, 3)
                    """
                )
                return try await store.log.page(after: nil, limit: 0).head
            }
            #expect(!position.snapshot.underWay.isEmpty)
            try await Self.poison(id, service)
            try await service.database.execute(
                "INSERT INTO group_events (kind, group_id, member_id) VALUES ('member.changed', gen_random_uuid(), \(id))"
            )
            for _ in 0..<3 {
                let page = try await store.log.page(after: position, limit: 1)
                #expect(page.entries.count == 1)
                position = page.position(behind: 1)
            }
            await #expect(throws: PostgresError.self) { try await store.log.page(after: position, limit: 1) }
        }
    }
}
