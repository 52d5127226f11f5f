import Models
import Postgres
import ServiceKit
import ServiceModels
import TestDatabases
import Testing

@testable import InvitesService

/// The events that triggers write when a statement changes a member, a group or a number's owner.
@Suite(.timeLimit(.minutes(5)))
struct GroupEventTriggerTests {
    /// A group with an owner, an admin, a plain member and a pending person, whose number has a user.
    private struct Scene {
        let service: InvitesFixture
        let group = PostgresUUID(high: 1, low: 1)
        let owner = PostgresUUID(high: 2, low: 1)
        let admin = PostgresUUID(high: 2, low: 2)
        let plain = PostgresUUID(high: 2, low: 3)
        let meant = PostgresUUID(high: 2, low: 4)
        let pending = PostgresUUID(high: 3, low: 4)

        static func run(openness: String, _ body: (Scene) async throws -> Void) async throws {
            try await InvitesFixture.run { service in
                let scene = Scene(service: service)
                try await scene.make(openness)
                try await body(scene)
            }
        }

        private func make(_ openness: String) async throws {
            let database = service.database
            try await database.execute(
                """
                INSERT INTO groups (group_id, name, owner_user_id, created_by, created_at, openness)
                VALUES (\(group), 'Hikers', \(owner), \(owner), now(), \(openness))
                """
            )
            try await database.execute("INSERT INTO phones (phone, user_id) VALUES ('639171234567', \(meant))")
            try await database.execute(
                """
                INSERT INTO members (group_id, member_id, user_id, phone, role, added_by, added_at, linked_at)
                VALUES (\(group), \(PostgresUUID(high: 3, low: 1)), \(owner), NULL, 'member', \(owner), now(), now()),
                    (\(group), \(PostgresUUID(high: 3, low: 2)), \(admin), '639170000002', 'admin', \(owner), now(), now()),
                    (\(group), \(PostgresUUID(high: 3, low: 3)), \(plain), '639170000003', 'member', \(owner), now(), now()),
                    (\(group), \(pending), NULL, '639171234567', 'member', \(owner), now(), NULL)
                """
            )
            try await database.execute("DELETE FROM group_events")
        }

        /// The events that a statement has written: kind, recipient and member, both by their last digits; a dash for null.
        func events(_ statement: Query) async throws -> [String] {
            try await service.database.execute(statement)
            let rows = try await service.database.execute(
                """
                WITH gone AS (DELETE FROM group_events RETURNING *)
                SELECT concat_ws(' ', kind, coalesce(right(user_id::text, 1), '-'), coalesce(right(member_id::text, 1), '-'))
                FROM gone ORDER BY 1
                """
            )
            return try rows.map { try $0.decode(0, as: String.self) }
        }

        /// Expects the events that a statement has written.
        func expect(
            _ statement: Query,
            _ expected: [String],
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let written = try await events(statement)
            #expect(written == expected, sourceLocation: sourceLocation)
        }
    }

    @Test func `A link is reported to the new member and to the group`() async throws {
        try await Scene.run(openness: "open") { scene in
            let link: Query = """
                UPDATE members SET user_id = \(scene.meant), linked_at = now() WHERE member_id = \(scene.pending)
                """
            try await scene.expect(link, ["group.joined 4 4", "member.changed - 4"])
            let unlink: Query = "UPDATE members SET user_id = NULL, linked_at = NULL WHERE member_id = \(scene.pending)"
            try await scene.expect(unlink, ["group.left 4 4", "member.changed - 4"])
        }
    }

    @Test func `A place that goes to another person is reported to both`() async throws {
        try await Scene.run(openness: "open") { scene in
            let move: Query =
                "UPDATE members SET user_id = \(scene.meant) WHERE user_id = \(scene.plain)"
            try await scene.expect(move, ["group.joined 4 3", "group.left 3 3", "member.changed - 3"])
        }
    }

    @Test func `A role, a name, a doubt and a confirmation are reported to the group`() async throws {
        try await Scene.run(openness: "open") { scene in
            for change in [
                "role = 'admin'", "display_name = 'Ana'", "unconfirmed_at = now()", "confirmed_by = user_id",
            ] {
                let update: Query = "UPDATE members SET \(unsafeSQL: change) WHERE user_id = \(scene.plain)"
                try await scene.expect(update, ["member.changed - 3"])
            }
            let hidden: Query = "UPDATE members SET added_by = \(scene.admin) WHERE user_id = \(scene.plain)"
            try await scene.expect(hidden, [])
        }
    }

    /// Members must not learn from it that the number is a user's.
    @Test(arguments: ["confirm", "consent"])
    func `A user who declines is notified, and nobody else`(openness: String) async throws {
        try await Scene.run(openness: openness) { scene in
            let decline: Query = "UPDATE members SET declined_by = \(scene.meant) WHERE member_id = \(scene.pending)"
            try await scene.expect(decline, ["invitation.changed 4 -"])
        }
    }

    @Test func `An invitation that is added or removed is reported to the number's user`() async throws {
        try await Scene.run(openness: "consent") { scene in
            let remove: Query = "DELETE FROM members WHERE member_id = \(scene.pending)"
            try await scene.expect(remove, ["invitation.changed 4 -", "member.changed - 4"])
            let add: Query = """
                INSERT INTO members (group_id, member_id, phone, added_by, added_at)
                VALUES (\(scene.group), \(scene.pending), '639171234567', \(scene.plain), now())
                """
            try await scene.expect(add, ["invitation.changed 4 -", "member.changed - 4"])
        }
    }

    @Test func `A number that changes hands changes both users' invitations, and what confirming members see`()
        async throws
    {
        try await Scene.run(openness: "confirm") { scene in
            let move: Query =
                "UPDATE phones SET user_id = \(PostgresUUID(high: 2, low: 5)) WHERE phone = '639171234567'"
            try await scene.expect(
                move,
                [
                    "invitation.changed 4 -", "invitation.changed 5 -", "member.changed 1 4", "member.changed 2 4",
                ]
            )
            let release: Query = "DELETE FROM phones WHERE phone = '639171234567'"
            try await scene.expect(
                release,
                [
                    "invitation.changed 5 -", "member.changed 1 4", "member.changed 2 4",
                ]
            )
        }
        try await Scene.run(openness: "consent") { scene in
            let release: Query = "UPDATE phones SET user_id = NULL WHERE phone = '639171234567'"
            try await scene.expect(release, ["invitation.changed 4 -"])
        }
    }

    @Test func `Confirming members get no event of a user who declined or blocks the inviter`() async throws {
        try await Scene.run(openness: "confirm") { scene in
            let other = PostgresUUID(high: 2, low: 5)
            let claim: Query = "UPDATE phones SET user_id = \(other)"
            let release: Query = "UPDATE phones SET user_id = NULL"
            _ = try await scene.events(release)
            let database = scene.service.database
            try await database.execute("UPDATE members SET declined_by = \(other) WHERE user_id IS NULL")
            try await scene.service.forgetEvents()
            try await scene.expect(claim, ["invitation.changed 5 -"])
            try await scene.expect(release, ["invitation.changed 5 -"])
            try await database.execute("UPDATE members SET declined_by = NULL WHERE user_id IS NULL")
            try await database.execute("INSERT INTO blocked_inviters VALUES (\(other), \(scene.owner), now())")
            try await scene.service.forgetEvents()
            try await scene.expect(claim, ["invitation.changed 5 -"])
            _ = try await scene.events(release)
            // Somebody whom they don't block has added them, too; the owner still gets no event.
            try await database.execute(
                "UPDATE members SET also_added_by = ARRAY[\(scene.plain)]::uuid[] WHERE user_id IS NULL"
            )
            try await scene.expect(claim, ["invitation.changed 5 -", "member.changed 2 4", "member.changed 3 4"])
        }
    }

    @Test func `A group that is renamed, opened or handed over is reported to members and invited users`()
        async throws
    {
        try await Scene.run(openness: "consent") { scene in
            try await scene.expect(
                "UPDATE groups SET name = 'Climbers'",
                [
                    // One event for all invited users.
                    "group.changed - -", "invitation.changed - -",
                ]
            )
            try await scene.expect("UPDATE groups SET name = 'Climbers'", [])
            try await scene.expect(
                "UPDATE groups SET openness = 'open'",
                [
                    "group.changed - -", "invitation.changed 4 -",
                ]
            )
            let handOver: Query = "UPDATE groups SET owner_user_id = \(scene.admin)"
            try await scene.expect(handOver, ["group.changed - -"])
        }
    }

    @Test func `All members leave a deleted group`() async throws {
        try await Scene.run(openness: "open") { scene in
            let delete: Query = """
                WITH gone AS (DELETE FROM members WHERE group_id = \(scene.group))
                DELETE FROM phones WHERE phone = '639171234567'
                """
            let told = try await scene.events(delete)
            #expect(
                told.filter { $0.hasPrefix("group.left") } == ["group.left 1 1", "group.left 2 2", "group.left 3 3"]
            )
            try await scene.expect("DELETE FROM groups", [])
        }
    }

    @Test func `Many people added together are reported as one event`() async throws {
        try await Scene.run(openness: "open") { scene in
            let add: Query = """
                INSERT INTO members (group_id, member_id, phone, added_by, added_at)
                SELECT \(scene.group), gen_random_uuid(), '63918' || (1000000 + n), \(scene.owner), now()
                FROM generate_series(1, 500) n
                """
            try await scene.expect(add, ["member.changed - -"])
        }
    }

    @Test func `A request to join is reported to its user and to members who may confirm`() async throws {
        try await Scene.run(openness: "confirm") { scene in
            let (asker, request) = (PostgresUUID(high: 2, low: 9), PostgresUUID(high: 3, low: 9))
            let told = ["invitation.changed 9 -", "member.changed 1 9", "member.changed 2 9"]
            let asked = try await scene.events(
                """
                INSERT INTO join_requests (group_id, user_id, member_id, requested_at)
                VALUES (\(scene.group), \(asker), \(request), now())
                """
            )
            #expect(asked == told)
            let gone = try await scene.events("DELETE FROM join_requests WHERE member_id = \(request)")
            #expect(gone == told)
        }
    }

    @Test(.readsLogsBySnapshots)

    func `A position from before all events makes a bounded amount of work, and starts again`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let log = GroupEventStore(database: service.database).log
            let count = GroupEventStore.examinedMax + 1
            try await service.database.execute(
                """
                INSERT INTO group_events (kind, user_id, group_id, member_id)
                SELECT 'invitation.changed', \(maria.uuid), NULL, NULL FROM generate_series(1, \(count))
                """
            )
            let now = try await log.page(after: nil, limit: 0).head.place
            let upper = try #require(now.point).snapshot.upper
            let forged = try #require(DatabaseSnapshot(horizon: 1, upper: upper, underWay: []))
            let absent = AbsentSubscriber(userID: maria, place: .snapshot(GroupLogPoint(forged)))
            #expect(try await log.missed(by: [absent], until: now, limit: 10).map(\.count) == [10])
        }
    }

    @Test func `A later version's kind of event hides no other missed events`() async throws {
        let later = Migration(
            number: InvitesMigrations.all.count + 1,
            name: "a further kind of events",
            sql: "ALTER TABLE group_events DROP CONSTRAINT group_events_kind_check"
        )
        try await InvitesFixture.run(migrations: InvitesMigrations.all + [later]) { service in
            let (maria, jose) = (someone(), someone())
            let log = GroupEventStore(database: service.database).log
            let before = try await log.page(after: nil, limit: 0).head.place
            try await service.database.execute(
                """
                INSERT INTO group_events (kind, user_id)
                VALUES ('invitation.changed', \(maria.uuid)), ('invitation.hidden', \(maria.uuid)), ('invitation.changed', \(jose.uuid))
                """
            )
            let now = try await log.page(after: nil, limit: 0).head.place
            let absent = [maria, jose].map { AbsentSubscriber(userID: $0, place: before) }
            #expect(try await log.missed(by: absent, until: now, limit: 10).map(\.count) == [1, 1])
            #expect(
                try await log.missed(by: absent, until: now, limit: 2).map(\.count) == [2, 1],
                "there may be more"
            )
        }
    }
}

extension InvitesFixture {
    /// Deletes the events that triggers have written.
    func forgetEvents() async throws { try await database.execute("DELETE FROM group_events") }
}
