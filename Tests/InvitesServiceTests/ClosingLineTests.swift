import API
import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import TestDatabases
import Testing

@testable import InvitesService

/// A closing is durable at once. It deletes the user's data in short transactions that block nobody else.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ClosingLineTests {
    @Test func `Nobody else waits while an account's data is deleted, and the account is closed already`() async throws
    {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let groups = try await service.groups(20, by: maria)
            let other = try await service.group(.confirm, by: jose).groupID
            let link = try await service.link(to: other, by: jose).token
            try await service.add(phone(1), to: groups[0], by: maria)
            let closing = try await service.database.withTransaction { transaction in
                // The closing stops halfway.
                let group = try #require(GroupID(groups[10]))
                try await transaction.query("SELECT FROM groups WHERE group_id = \(group.uuid) FOR UPDATE")
                let closing = Task { try await service.close(maria) }
                try await service.database.waitForLockWaits()
                #expect(try await service.groups(of: maria).groups.count == 1, "all other groups are done")
                #expect(try await service.locked("user_locks", "holding", "phones", "closed_accounts") == [])
                // Users in her groups wait no longer than others.
                try await service.apply(claimed(1, by: ana), claimed(2, by: someone()))
                _ = try await service.join(by: link, ana)
                _ = try await service.update(other, by: jose, openness: .open)
                #expect(try await service.groups(of: ana).groups.map(\.groupID) == [other])
                // Later calls find her account closed.
                try await service.add(phone(3), to: other, by: jose)
                #expect(try await service.apply(claimed(3, by: maria)) == 0)
                #expect(await outcome { try await service.join(by: link, maria) } == "SESSION_REVOKED")
                #expect(await outcome { try await service.group(by: maria) } == "SESSION_REVOKED")
                // She can't change groups that she hasn't left yet.
                #expect(try await service.groups(of: maria).groups.contains { $0.groupID == groups[10] })
                for number in [3, 4] {
                    #expect(
                        await outcome { try await service.add(phone(number), to: groups[10], by: maria) }
                            == "NOT_A_MEMBER"
                    )
                }
                #expect(
                    await outcome { try await service.update(groups[10], by: maria, openness: .consent) }
                        == "NOT_A_MEMBER"
                )
                #expect(await outcome { try await service.link(to: groups[10], by: maria) } == "NOT_A_MEMBER")
                return closing
            }
            try await closing.value
            service.clock.advance(milliseconds: 10_000)
            await service.parts.closings.round()
            #expect(try await service.groups(of: maria).groups.isEmpty)
        }
    }

    @Test func `Only the locks of affected users are taken`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let (open, confirm) = (
                try await service.group(by: jose), try await service.group(.confirm, by: jose).groupID
            )
            try await service.add(phone(1), to: open, by: jose)
            let link = try await service.link(to: confirm, by: jose).token
            let theirs = UserLocks.numbers(of: [maria, ana])
            try await service.database.withTransaction { transaction in
                try await transaction.query("SELECT FROM user_locks WHERE lock <> ALL(\(theirs)) FOR UPDATE")
                #expect(try await service.apply(claimed(1, by: maria)) == 1)
                try await service.apply(released(1, by: maria))
                _ = try await service.join(by: link, maria)
                _ = try await service.join(by: link, ana)
                let asking = try await service.pending(of: confirm, askedBy: jose).people
                let request = try #require(asking.first { $0.userID == maria.description })
                try await service.confirm(request.memberID, as: maria, in: confirm, by: jose)
                _ = try await service.update(confirm, by: jose, openness: .open)
                #expect(try await service.groups(of: ana).groups.count == 1, "the user who asked to join is a member")
                #expect(try await service.hold(ana, EventID.of(1)) == false)
                try await service.close(maria)
            }
            #expect(try await service.groups(of: maria).groups.isEmpty)
        }
    }

    @Test(.waitsByLocksAlone)
    func `A hold waits for a user who asked to join while the group is opened, and who is in it then`()
        async throws
    {
        try await InvitesFixture.run { service in
            let (jose, ana) = (someone(), someone())
            let group = try await service.group(.confirm, by: jose).groupID
            let link = try await service.link(to: group, by: jose).token
            _ = try await service.join(by: link, ana)
            let opening = try await service.database.withTransaction { transaction in
                // The state of an absorption that has decided and isn't committed.
                try await transaction.query(
                    "SELECT FROM user_locks WHERE lock = ANY(\(UserLocks.numbers(of: [ana]))) FOR UPDATE"
                )
                let opening = Task { try await service.update(group, by: jose, openness: .open) }
                try await service.database.waitForLockWaits()
                try await transaction.execute(
                    "INSERT INTO held_accounts VALUES (\(ana.uuid), \(EventID.of(1).uuid), now())"
                )
                return opening
            }
            _ = try await opening.value
            #expect(try await service.groups(of: ana).groups.isEmpty, "not decided yet")
            #expect(try await service.pending(of: group, askedBy: jose).people.count == 1)
        }
    }

    @Test func `An interrupted closing is continued by any replica`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            _ = try await service.groups(20, by: maria)
            let accounts = service.parts.methods.accounts
            // A process that was killed right after the commit has returned nothing.
            try await accounts.close(maria, clock: service.clock.clock, deadline: nil)
            for left in [12, 4] {
                #expect(try await accounts.forget(maria, until: .now) == false)
                #expect(try await service.groups(of: maria).groups.count == left)
            }
            await service.parts.closings.round()
            #expect(try await service.groups(of: maria).groups.count == 4, "another replica's lease may be running")
            service.clock.advance(milliseconds: AccountStore.leaseMilliseconds)
            await service.parts.closings.round()
            #expect(try await service.groups(of: maria).groups.isEmpty)
            #expect(try await service.count("SELECT count(*) FROM groups") == 0)
            #expect(try await service.count("SELECT count(*) FROM closed_accounts WHERE swept_at IS NOT NULL") == 1)
            // One round is bounded as well.
            #expect(try await accounts.forget(maria, until: .now))
        }
    }

    @Test func `An account's data outside groups is deleted in parts as well`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            try await service.database.execute(
                """
                INSERT INTO blocked_inviters (user_id, inviter_user_id, blocked_at)
                SELECT gen_random_uuid(), \(maria.uuid), now() FROM generate_series(1, \(AccountStore.rowsTogetherMax + 1))
                """
            )
            #expect(try await service.parts.methods.accounts.forget(maria, until: .now) == false)
            #expect(try await service.count("SELECT count(*) FROM blocked_inviters") == 1)
            try await service.close(maria)
            #expect(try await service.count("SELECT count(*) FROM blocked_inviters") == 0)
        }
    }

    @Test
    func `A closing that fails is retried last, is counted, and stops neither others nor the pruning`() async throws {
        let stuck = UserID(high: 7, low: 7)
        let broken = Migration(
            number: InvitesMigrations.all.count + 1,
            name: "a user who can't be taken out",
            sql: """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$;
                CREATE TRIGGER refuse BEFORE DELETE ON members FOR EACH ROW WHEN (OLD.user_id = '\(stuck)')
                    EXECUTE FUNCTION refuse();
                """
        )
        try await InvitesFixture.run(migrations: InvitesMigrations.all + [broken]) { service in
            let maria = someone()
            _ = try await service.group(by: stuck)
            _ = try await service.group(by: maria)
            // The closing is durable, so identity needn't repeat its event.
            try await service.close(stuck)
            try await service.close(maria)
            #expect(service.closingFailures == 1)
            #expect(try await service.groups(of: maria).groups.isEmpty)
            service.clock.advance(milliseconds: AccountStore.sweepMilliseconds)
            await service.parts.closings.round()
            #expect(service.closingFailures == 2)
            #expect(
                try await service.count(
                    "SELECT count(*) FROM closed_accounts WHERE user_id = '\(maria)' AND swept_at IS NOT NULL"
                ) == 1
            )
            // Not before its delay is over, which grows each time.
            service.clock.advance(milliseconds: 6_000)
            await service.parts.closings.round()
            #expect(service.closingFailures == 2)
            service.clock.advance(milliseconds: 5_000)
            await service.parts.closings.round()
            #expect(service.closingFailures == 3)
            service.clock.advance(milliseconds: AccountStore.closedAccountMilliseconds)
            await service.parts.cleanup.clean()
            #expect(
                try await service.count("SELECT count(*) FROM closed_accounts WHERE user_id = '\(stuck)'") == 1,
                "it is to be done still"
            )
            #expect(try await service.count("SELECT count(*) FROM closed_accounts") == 1)
            await service.parts.closings.round()
            let oldest = service.closingMetric("vestibule_invites_closings_oldest_seconds")
            #expect(oldest.map { $0 > 86_400 } == true)
            #expect(service.closingMetric("vestibule_invites_closings_waiting") == 1)
        }
    }

    @Test func `A hold that is never decided is shown in metrics`() async throws {
        try await InvitesFixture.run { service in
            let isHeld = try await service.hold(someone(), EventID.of(1))
            #expect(isHeld)
            service.clock.advance(milliseconds: 7_200_000)
            await service.parts.closings.round()
            #expect(service.closingMetric("vestibule_invites_holds_oldest_seconds").map { $0 > 7_199 } == true)
        }
    }
}

extension InvitesFixture {
    /// Creates groups, oldest first.
    fileprivate func groups(_ count: Int, by user: UserID) async throws -> [String] {
        var groups: [String] = []
        for _ in 0..<count { groups.append(try await group(by: user)) }
        return groups
    }

    /// Those of the tables in which a transaction holds row locks.
    fileprivate func locked(_ tables: String...) async throws -> [String] {
        try await database.query(
            """
            SELECT DISTINCT relname::text FROM pg_locks JOIN pg_class ON pg_class.oid = relation
            WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND relname = ANY(\(tables)) AND mode IN ('RowShareLock', 'RowExclusiveLock') ORDER BY 1
            """
        ).map { try $0.decode(0, as: String.self) }
    }

    fileprivate var closingFailures: Double? { closingMetric("vestibule_invites_closing_failures_total") }

    /// The value of a metric of closings.
    fileprivate func closingMetric(_ name: String) -> Double? {
        var text = MetricsText()
        parts.closings.metrics.write(to: &text)
        let line = text.text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        return line.flatMap { Double($0.dropFirst(name.count + 1)) }
    }
}
