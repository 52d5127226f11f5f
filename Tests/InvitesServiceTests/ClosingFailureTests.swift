import API
import Models
import Postgres
import ServiceKit
import ServiceModels
import TestDatabases
import Testing

@testable import InvitesService

/// Closings of which a part fails, or that somebody holds up.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ClosingFailureTests {
    /// A user who can't be taken out of groups before the closing is tried once more.
    private static let stuck = UserID(high: 7, low: 7)

    private static let refusal = Migration(
        number: InvitesMigrations.all.count + 1,
        name: "a user who can't be taken out at first",
        sql: """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF EXISTS (SELECT FROM closed_accounts WHERE user_id = OLD.user_id AND tries = 0) THEN
                    RAISE EXCEPTION 'broken';
                END IF;
                RETURN OLD;
            END $$;
            CREATE TRIGGER refuse BEFORE DELETE ON members FOR EACH ROW WHEN (OLD.user_id = '\(stuck)')
                EXECUTE FUNCTION refuse();
            """
    )

    @Test func `If a closing fails at first, its invitations stay hidden from a user who blocks the inviter`()
        async throws
    {
        try await InvitesFixture.run(migrations: InvitesMigrations.all + [Self.refusal]) { service in
            let (jose, vera) = (someone(), someone())
            let group = try await service.group(by: jose)
            try await service.join([Self.stuck], to: group, by: jose)
            try await service.apply(claimed(1, by: vera))
            try await service.block(Self.stuck, by: vera)
            try await service.add(phone(1), to: group, by: Self.stuck)
            try await service.close(Self.stuck)
            #expect(try await service.members(of: group, askedBy: jose).members.count == 3, "it has failed")
            #expect(try await service.count("SELECT count(*) FROM blocked_inviters") == 1, "the group names the user")
            service.clock.advance(milliseconds: 10_000)
            await service.parts.closings.round()
            #expect(try await service.members(of: group, askedBy: jose).members.count == 2)
            #expect(try await service.count("SELECT count(*) FROM blocked_inviters") == 0)
            // Declined: neither a claim nor another openness brings it back.
            #expect(try await service.apply(claimed(1, by: vera)) == 0)
            _ = try await service.update(group, by: jose, openness: .consent)
            #expect(try await service.invitationIDs(of: vera).isEmpty)
        }
    }

    @Test func `A call that closes an account waits for nobody who holds a group, and leaves the rest to a turn`()
        async throws
    {
        try await InvitesFixture.run(closingLimit: ClosingRunner.callLimit) { service in
            let maria = someone()
            let group = try #require(GroupID(try await service.group(by: maria)))
            try await service.database.withTransaction { transaction in
                try await transaction.query("SELECT FROM groups WHERE group_id = \(group.uuid) FOR UPDATE")
                let began = ContinuousClock.now
                try await service.close(maria)
                #expect(ContinuousClock.now - began < AccountStore.partLimit)
            }
            #expect(try await service.groups(of: maria).groups.count == 1)
            #expect(try await service.count("SELECT count(*) FROM closed_accounts WHERE tries = 0") == 1, "no failure")
            await service.parts.closings.round()
            #expect(try await service.groups(of: maria).groups.isEmpty)
        }
    }

    @Test func `Groups that can't be forgotten keep no other one, wherever they stand`() async throws {
        let broken = Migration(
            number: InvitesMigrations.all.count + 1,
            name: "groups that can't be deleted",
            sql: """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$;
                CREATE TRIGGER refuse BEFORE DELETE ON groups FOR EACH ROW WHEN (OLD.name = 'Stuck') EXECUTE FUNCTION refuse();
                """
        )
        try await InvitesFixture.run(migrations: InvitesMigrations.all + [broken]) { service in
            let maria = someone()
            // One in each part but the last.
            for number in 0..<5 * AccountStore.groupsTogetherMax + 2 {
                let isStuck =
                    number < 5 * AccountStore.groupsTogetherMax && number % AccountStore.groupsTogetherMax == 1
                _ = try await service.group(isStuck ? "Stuck" : "Hikers", by: maria)
            }
            try await service.close(maria)
            // What the call found no time for.
            service.clock.advance(milliseconds: 10_000)
            await service.parts.closings.round()
            #expect(try await service.count("SELECT count(*) FROM groups WHERE name <> 'Stuck'") == 0)
            #expect(try await service.count("SELECT count(*) FROM groups") == 5)
            #expect(try await service.count("SELECT count(*) FROM closed_accounts WHERE tries > 0") == 1)
        }
    }

    @Test func `A closing that waited for long looks a minute after it for what was under way`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let closing = try await service.database.withTransaction { transaction in
                try await transaction.query(
                    "SELECT FROM user_locks WHERE lock = ANY(\(UserLocks.numbers(of: [maria]))) FOR UPDATE"
                )
                let closing = Task { try await service.close(maria) }
                try await service.database.waitForLockWaits()
                service.clock.advance(milliseconds: AccountStore.sweepMilliseconds)
                return closing
            }
            try await closing.value
            #expect(try await service.count("SELECT count(*) FROM closed_accounts WHERE swept_at IS NULL") == 1)
            service.clock.advance(milliseconds: AccountStore.sweepMilliseconds)
            await service.parts.closings.round()
            #expect(try await service.count("SELECT count(*) FROM closed_accounts WHERE swept_at IS NULL") == 0)
        }
    }
}
