import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import RPCTransport
import ServiceModels
import TestDatabases
import Testing

@testable import IdentityService

struct AccountNumberTests {
    @Test func `Each account has a number of its own, told with all its tokens`() async throws {
        try await TestService.run { service in
            let first = try await service.signIn(subject: "1").tokens
            let second = try await service.signIn(subject: "2").tokens
            #expect(first.accountNumber > 0)
            #expect(second.accountNumber > first.accountNumber)
            service.clock.advance(seconds: 1)
            #expect(try await service.signIn(subject: "1").tokens.accountNumber == first.accountNumber)
            let refreshed = try await service.refresh(first.refreshToken).tokens
            #expect(refreshed.accountNumber == first.accountNumber)
        }
    }

    @Test func `A retry tells the number`() async throws {
        try await TestService.run { service in
            let token = try service.provider.appleToken(at: service.clock)
            let first = try await service.signIn(token: token).tokens
            #expect(try await service.signIn(token: token).tokens.accountNumber == first.accountNumber)
        }
    }

    @Test func `Callers who ask first at the same moment agree`() async throws {
        try await TestService.run { service in
            let tokens = try (0..<16).map {
                try service.provider.appleToken(at: service.clock, ["jti": .string("\($0)")])
            }
            let userID = try await service.signIn(subject: "001.person").tokens.userID
            try await service.database.execute("UPDATE accounts SET number = NULL")
            let numbers = try await gather(16) { try await service.signIn(token: tokens[$0]).tokens.accountNumber }
            #expect(Set(numbers).count == 1)
            #expect(numbers[0] > 0)
            let stored: Int64 = try await service.value("SELECT number FROM accounts")
            #expect(stored == numbers[0])
            #expect(try await service.account(userID).userID == userID)
        }
    }

    @Test func `A refresh numbers an account that has none`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            try await service.database.execute("UPDATE accounts SET number = NULL")
            let number = try await service.refresh(tokens.refreshToken).tokens.accountNumber
            #expect(number > tokens.accountNumber)
            #expect(
                try await service.signIn(subject: "001.person", changes: ["jti": "2"]).tokens.accountNumber == number
            )
        }
    }

    @Test func `The rest are numbered beside, a few at a time`() async throws {
        try await TestService.run { service in
            let known = try await service.signIn().tokens.accountNumber
            let count = Int64(IdentityStore.numberedMax + 5)
            try await service.database.execute(
                """
                INSERT INTO accounts (user_id, created_at, number)
                SELECT gen_random_uuid(), now(), NULL FROM generate_series(1, \(count))
                """
            )
            let store = service.parts.methods.store
            #expect(try await store.numberAccounts(limit: IdentityStore.numberedMax) == IdentityStore.numberedMax)
            await service.parts.numbering.run()
            let (unnumbered, distinct): (Int64, Int64) = (
                try await service.value("SELECT count(*) FROM accounts WHERE number IS NULL"),
                try await service.value("SELECT count(DISTINCT number) FROM accounts")
            )
            #expect(unnumbered == 0)
            #expect(distinct == count + 1)
            #expect(try await service.signIn(changes: ["jti": "2"]).tokens.accountNumber == known, "nobody's changes")
        }
    }

    /// The index finds those without number also among many that have one; without it each round would read them all.
    @Test func `Looking for accounts without number reads no table`() async throws {
        try await TestService.run { service in
            try await service.database.execute(
                """
                INSERT INTO accounts (user_id, created_at)
                SELECT gen_random_uuid(), now() FROM generate_series(1, 5000)
                """
            )
            try await service.database.execute(Query(unsafeSQL: "ANALYZE accounts"))
            let rows = try await service.database.execute(
                "EXPLAIN SELECT user_id FROM accounts WHERE number IS NULL ORDER BY number LIMIT 200"
            )
            let plan = try (0..<rows.count).map { try rows[$0].decode(0, as: String.self) }.joined(separator: "\n")
            #expect(plan.contains("accounts_number") && !plan.contains("Seq Scan"), "\(plan)")
        }
    }

    /// Tables as the version before left them, with its rows, and its statements on the tables after them.
    @Test func `Accounts of the version before sign in, and it goes on writing`() async throws {
        let fresh = try await TestDatabase.fresh(schema: "identity")
        let configuration = fresh.configuration
        let released = IdentityMigrations.all.filter { $0.number <= 2 }
        try await Migrator(configuration).run(released, schema: "identity")
        let session = try VersionBefore(configuration)
        try await session.write(subject: "001.person", userID: UserID(high: 1, low: 1))
        try await TestService.run(on: configuration) { service in
            let unnumbered: Int64? = try await service.value("SELECT number FROM accounts")
            #expect(unnumbered == nil, "the migration rewrites no rows")
            let tokens = try await service.signIn(subject: "001.person").tokens
            #expect(tokens.userID == UserID(high: 1, low: 1).description)
            #expect(tokens.accountNumber > 0)
            // The version before is still running elsewhere.
            try await session.write(subject: "002.other", userID: UserID(high: 1, low: 2))
            let number: Int64? = try await service.value(
                "SELECT number FROM accounts WHERE user_id = \(UserID(high: 1, low: 2).uuid)"
            )
            #expect(try #require(number) > 0, "the default numbers what it makes")
            service.clock.advance(seconds: 1)
            let other = try await service.signIn(subject: "002.other").tokens
            #expect(other.accountNumber == number)
        }
        await session.shutdown()
    }
}

/// What the version before writes at a first sign-in.
private struct VersionBefore {
    private let group: EventLoopGroup
    private let database: PostgresClient

    init(_ configuration: PostgresConfiguration) throws {
        group = try EventLoopGroup(loopCount: 1, name: "before")
        database = PostgresClient(configuration, group: group)
    }

    func write(subject: String, userID: UserID) async throws {
        let sessionID = SessionID(high: 9, low: userID.low)
        try await database.execute(
            """
            WITH claimed AS (
                INSERT INTO sign_ins (fingerprint, session_id, created_at, expires_at)
                VALUES (sha256(\(subject)::bytea), \(sessionID.uuid), now(), now()) RETURNING session_id
            ), identity AS (
                INSERT INTO provider_identities (provider, subject, user_id, email, is_email_told, is_email_verified,
                    is_private_email, told_name, real_user_status, created_at, last_sign_in_at)
                SELECT 'apple', \(subject), \(userID.uuid), 'old@example.com', false, true, false, 'Old Name', 2, now(),
                    now() FROM claimed
                RETURNING user_id
            ), account AS (
                INSERT INTO accounts (user_id, created_at) SELECT user_id, now() FROM identity
            )
            INSERT INTO sessions (session_id, user_id, provider, client_id, device_name, opened_account, nonce, created_at,
                last_used_at, expires_at)
            SELECT \(sessionID.uuid), user_id, 'apple', 'com.example.app', NULL, true, \([UInt8](repeating: 7, count: 16)),
                now(), now(), now() + interval '1 day' FROM identity
            """
        )
    }

    func shutdown() async {
        await database.shutdown()
        await group.shutdown()
    }
}
