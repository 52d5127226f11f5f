import API
import IdentityDomain
import Models
import Postgres
import RPC
import RPCTransport
import ServiceKit
import ServiceStore
import TestDatabases
import Testing

@testable import IdentityService

/// A database of the version before guests.
struct GuestUpgradeTests {
    @Test func `Accounts, sessions, merges and closings of before are as they were, and guests come beside them`()
        async throws
    {
        let before = Array(IdentityMigrations.all.prefix(3))
        try await TestDatabase.withMigrated(before, schema: "identity", hasOwner: false) { facts in
            let group = try EventLoopGroup(loopCount: 1, name: "before")
            let database = PostgresClient(facts.configuration, group: group)
            try await Self.fill(database)
            await database.shutdown()
            await group.shutdown()
            try await TestService.run(on: facts.configuration, guests: .on()) { service in
                _ = service.others.absorptions()
                #expect(try await service.count("accounts WHERE guest_until IS NULL") == 2)
                #expect(try await service.count("absorptions WHERE NOT is_guest") == 1)
                #expect(
                    try await service.words("SELECT why FROM account_closings WHERE successor IS NULL") == ["absorbed"]
                )
                // Rows of each proof can be changed under the new constraint.
                let ended = try await service.database.execute(
                    "UPDATE sessions SET revoked_at = now(), revoke_reason = 'operator' WHERE revoked_at IS NULL"
                )
                #expect(ended.affected == 5)
                let guest = try await service.guest()
                #expect(
                    try await service.linkResponse(guest.accessToken, token: service.googleToken()).tokens.userID
                        == guest.userID
                )
                await service.parts.cleanup.clean()
                #expect(try await service.count("accounts") == 3)
            }
        }
    }

    /// Two accounts with a session of each proof, a merge under way, and a closing.
    private static func fill(_ database: PostgresClient) async throws {
        let proofs = ["nonce", "code", "fresh", "access_token", "unproven"]
        try await database.execute(
            """
            WITH account AS (
                INSERT INTO accounts (user_id, created_at) SELECT gen_random_uuid(), now() FROM generate_series(1, 2) RETURNING user_id
            ), merge AS (
                INSERT INTO absorptions (absorption_id, absorbed, absorber, asker, fingerprints, state, may_turn, begun_at, held_until)
                SELECT gen_random_uuid(), min(user_id::text)::uuid, max(user_id::text)::uuid, max(user_id::text)::uuid, '{}', 'asking',
                    false, now(), now() + interval '1 day'
                FROM account
            ), closing AS (
                INSERT INTO account_closings (user_id, why, closed_at) VALUES (gen_random_uuid(), 'absorbed', now())
            )
            INSERT INTO sessions (
                session_id, user_id, provider, client_id, opened_account, nonce, proof, dialect, created_at, last_used_at, expires_at)
            SELECT gen_random_uuid(), (SELECT max(user_id::text)::uuid FROM account), 'apple', 'app', false,
                decode(repeat('00', 16), 'hex'), proof, CASE proof WHEN 'unproven' THEN 'wordpress' END, now(), now(),
                now() + interval '9000 days'
            FROM unnest(\(proofs)) AS each (proof)
            """
        )
    }
}
