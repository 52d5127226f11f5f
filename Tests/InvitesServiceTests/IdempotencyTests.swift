import API
import Models
import Postgres
import RPC
import ServiceKit
import TestDatabases
import Testing

@testable import InvitesService

/// A group is created once for each key of a user, and the error says whether the outcome is unknown.
@Suite(.serialized) struct IdempotencyTests {
    private static let key = "8e03978e-40d5-43dd-bc93-6894a57f9324"

    private func create(
        _ service: InvitesFixture,
        by user: UserID,
        name: String = "Hikers",
        called displayName: String = "",
        key: String = key
    ) async throws -> AppV1.Group {
        var request = AppV1.CreateGroupRequest()
        request.name = name
        request.idempotencyKey = key
        return try await service.client.createGroup(request, options: service.options(for: user, called: displayName))
            .group
    }

    @Test func `The same request with the same key returns the same group`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let first = try await create(service, by: maria, called: "Maria")
            // A key's case doesn't matter, a name is compared as stored, and the user may have another name by now.
            let key = Self.key.uppercased()
            let again = try await create(service, by: maria, name: " Hikers ", called: "Mia", key: key)
            #expect(again == first)
            #expect(try await service.groups(of: maria).groups == [first])
            let members = try await service.members(of: first.groupID, askedBy: maria).members
            #expect(members.map(\.displayName) == ["Maria"])

            let other = try await create(service, by: maria, key: "8e03978e-40d5-43dd-bc93-6894a57f9325")
            let anothers = try await create(service, by: someone())
            #expect(Set([first, other, anothers].map(\.groupID)).count == 3)
        }
    }

    @Test func `A key that was used with another name is refused, and so is one that is no UUID`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await create(service, by: maria)
            let reused = try await failure { try await create(service, by: maria, name: "Climbers") }
            #expect(reused.code == .failedPrecondition)
            #expect(reused.reason == "IDEMPOTENCY_KEY_REUSED")
            #expect(reused.fieldViolations.map(\.field) == ["idempotency_key"])
            let odd = try await failure { try await create(service, by: maria, key: "one") }
            #expect(odd.code == .invalidArgument)
            #expect(odd.reason == "IDEMPOTENCY_KEY_INVALID")
            #expect(try await service.groups(of: maria).groups == [group])
        }
    }

    @Test func `Many concurrent requests create one group`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            for round in 0..<10 {
                let key = IdentifierSource().make(GroupID.self).description
                let groups = try await withThrowingTaskGroup(of: AppV1.Group.self) { tasks in
                    for _ in 0..<8 {
                        tasks.addTask { try await create(service, by: maria, name: "Group \(round)", key: key) }
                    }
                    return try await tasks.reduce(into: []) { $0.append($1) }
                }
                #expect(Set(groups.map(\.groupID)).count == 1)
                #expect(try await service.count("SELECT count(*) FROM groups") == Int64(round + 1))
            }
            #expect(try await service.count("SELECT count(*) FROM members") == 10)
        }
    }

    @Test func `A request that failed leaves its key free`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            _ = try await failure { try await create(service, by: maria, name: " ") }
            #expect(try await service.count("SELECT count(*) FROM group_keys") == 0)
            #expect(try await create(service, by: maria, name: "Climbers").name == "Climbers")
        }
    }

    @Test func `A key is deleted after its time, and not before`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let first = try await create(service, by: maria)
            service.clock.advance(milliseconds: 23 * 3_600_000)
            await service.parts.cleanup.clean()
            #expect(try await create(service, by: maria) == first)
            service.clock.advance(milliseconds: 2 * 3_600_000)
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM group_keys") == 0)
            #expect(try await create(service, by: maria).groupID != first.groupID)
        }
    }

    /// Makes commits of groups wait for a lock, so that a connection can be broken during one.
    private static let slowCommits = Migration(
        number: InvitesMigrations.all.count + 1,
        name: "slow commits",
        sql: """
            CREATE FUNCTION wait_a_while() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER wait_a_while AFTER INSERT ON groups
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_a_while();
            """
    )

    /// The error if the connection breaks while the creation of a group waits for a lock that `sql` takes.
    private func broken(at sql: String, key: String) async throws -> RPCError {
        var told: RPCError?
        try await InvitesFixture.run(migrations: InvitesMigrations.all + [Self.slowCommits]) { service in
            let maria = someone()
            told = try await service.database.withTransaction(deadline: .after(.seconds(60))) { transaction in
                _ = try await transaction.query(Query(unsafeSQL: sql))
                async let failed = failure { try await create(service, by: maria, key: key) }
                let kill = """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'
                    """
                var killed = 0
                while killed == 0 {
                    // Within a transaction the view would keep showing its first result.
                    _ = try await transaction.query("SELECT pg_stat_clear_snapshot()")
                    killed = try await transaction.query(Query(unsafeSQL: kill)).count
                    try await Task.sleep(for: .milliseconds(10))
                }
                return try await failed
            }
        }
        return try #require(told)
    }

    @Test(.waitsByLocksAlone, arguments: [true, false])
    func `A connection that breaks in the commit gives an unknown outcome, unless a retry is harmless`(
        hasKey: Bool
    ) async throws {
        let error = try await broken(at: "SELECT pg_advisory_xact_lock(7)", key: hasKey ? Self.key : "")
        #expect(error.code == (hasKey ? .unavailable : .unknown))
        #expect(error.reason == (hasKey ? "DATABASE_UNAVAILABLE" : "OUTCOME_UNKNOWN"))
        #expect(error.retryAfter == (hasKey ? .seconds(1) : nil))
        #expect(error.metadata.first("grpc-retry-pushback-ms") == (hasKey ? nil : "-1"))
    }

    /// Nothing was done, and that is certain.
    @Test func `A connection that breaks before the commit gives an error to retry`() async throws {
        let error = try await broken(at: "LOCK TABLE groups IN ACCESS EXCLUSIVE MODE", key: "")
        #expect(error.code == .unavailable && error.reason == "DATABASE_UNAVAILABLE")
        #expect(error.retryAfter == .seconds(1))
    }
}
