import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import TestDatabases
import Testing

@testable import IdentityService

/// Nobody can sign in to a blocked account.
struct BlockingTests {
    private func refused(_ sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void) async {
        await expectFailure(.permissionDenied, "ACCOUNT_BLOCKED", sourceLocation: sourceLocation, body)
    }

    /// A token of Google's that was never used.
    private func googleToken(_ service: TestService) throws -> String {
        try service.provider.appleToken(
            subject: "google-1",
            at: service.clock,
            [
                "iss": "https://accounts.google.com", "aud": "example.apps.googleusercontent.com",
                "c_hash": nil as JSONValue?, "jti": .string(Base64URL.encode(SecureRandom.bytes(8))),
            ]
        )
    }

    @Test func `A block ends and publishes the sessions, and rejects all their tokens`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInAnew()
            let single = try await service.signInSingle()
            let other = try await service.signInAnew(subject: "002.person")
            let answer = try await service.block(tokens.userID)
            #expect(!answer.wasBlocked && answer.endedSessions == 2)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(tokens.accessToken) }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.refresh(tokens.refreshToken)
            }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(single.singleToken) }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.renew(single.singleToken) }
            // The user can't delete the account either, and come back as somebody new.
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { try await service.delete(tokens.accessToken) }
            let told = try await service.words("SELECT session_id || ' ' || reason FROM revocations")
            #expect(Set(told) == ["\(tokens.sessionID) operator", "\(single.sessionID) operator"])
            _ = try await service.check(other.accessToken)
        }
    }

    @Test func `Every kind of sign-in is refused, and uses up nothing`() async throws {
        try await TestService.runWithAudiences { service in
            let userID = try await service.signInAnew().userID
            try await service.block(userID)
            let (sessions, fingerprints) = (try await service.count("sessions"), try await service.count("sign_ins"))
            let token = try service.provider.appleToken(at: service.clock, ["jti": .string("a")])
            let bare = try service.provider.bareToken(at: service.clock)
            let coded = try service.provider.bareToken("com.example.coded", at: service.clock)
            try service.exchange.answer(coded, for: "a code", service: service)
            let ways: [(inout IdentityV1.SignInRequest) throws -> Void] = [
                { ($0.idToken, $0.nonce) = (token, TestProvider.rawNonce) },
                { ($0.idToken, $0.nonce, $0.create) = (token, TestProvider.rawNonce, false) },
                { ($0.idToken, $0.nonce, $0.tokenStyle) = (token, TestProvider.rawNonce, .single) },
                {
                    ($0.idToken, $0.nonce) = (token, TestProvider.rawNonce)
                    ($0.emailReservation.dialect, $0.emailReservation.email) = ("wordpress", "a@example.com")
                },
                { $0.idToken = bare },
                { ($0.authorizationCode, $0.clientID) = ("a code", "com.example.coded") },
            ]
            for way in ways { await refused { _ = try await service.signIn(way) } }
            #expect(try await service.count("sessions") == sessions)
            #expect(try await service.count("sign_ins") == fingerprints)
            #expect(try await service.count("email_reservations") == 0)
            #expect(try await service.events("signed_in").count == 1)
            #expect(try await service.count("accounts") == 1)

            try await service.unblock(userID)
            let again = try await service.signIn(ways[0])
            #expect(!again.isNewUser && again.tokens.userID == userID)
            #expect(try await service.check(again.tokens.accessToken).userID == userID)
        }
    }

    @Test func `An access token of the provider is refused too`() async throws {
        try await TestService.runWithAudiences { service in
            func signIn() async throws -> IdentityV1.SignInResponse {
                let token = try googleToken(service)
                try service.exchange.answer(token, for: "an access token", service: service, provider: .google)
                return try await service.signIn {
                    ($0.provider, $0.accessToken) = ("google", "an access token")
                    $0.clientID = "example.apps.googleusercontent.com"
                }
            }
            let userID = try await signIn().tokens.userID
            try await service.block(userID)
            service.clock.advance(seconds: 120)
            await refused { _ = try await signIn() }
        }
    }

    @Test func `A sign-in repeated with the token of an ended session is refused as blocked`() async throws {
        try await TestService.run { service in
            let token = try service.provider.appleToken(at: service.clock)
            let userID = try await service.signIn(token: token).tokens.userID
            try await service.block(userID)
            await refused { _ = try await service.signIn(token: token) }
            try await service.unblock(userID)
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") { _ = try await service.signIn(token: token) }
        }
    }

    @Test func `A browser's tickets open nothing during the block, and are kept`() async throws {
        try await TestService.run(providers: WebSignInTests.providers()) { service in
            let first = try await service.finish(service.begin())
            let userID = try await service.redeem(first).tokens.userID
            service.clock.advance(seconds: 1)
            let tickets = try await service.finish(service.begin())
            try await service.block(userID)
            await refused { _ = try await service.redeem(tickets) }
            // The tickets of the ended session.
            await refused { _ = try await service.redeem(first) }
            #expect(try await service.count("web_tickets") == 1)
            try await service.unblock(userID)
            #expect(try await service.redeem(tickets).tokens.userID == userID)
        }
    }

    @Test func `A sign-in without proof is refused, and so is registering again`() async throws {
        try await TestService.runWithAudiences(unprovenDialects: ["wordpress"]) { service in
            func signIn(create: Bool) async throws -> IdentityV1.SignInResponse {
                try await service.signIn {
                    ($0.unproven.dialect, $0.unproven.subject) = ("wordpress", "001.person")
                    ($0.create, $0.tokenStyle) = (create, .singleForSession)
                }
            }
            let userID = try await signIn(create: true).tokens.userID
            try await service.block(userID)
            await refused { _ = try await signIn(create: false) }
            await refused {
                _ = try await service.findAccount {
                    ($0.unproven.dialect, $0.unproven.subject) = ("wordpress", "001.person")
                }
            }
            await expectFailure(.alreadyExists, "ACCOUNT_EXISTS") { _ = try await signIn(create: true) }
            // The first proof changes nothing: the account keeps its user, and stays blocked.
            await refused { _ = try await service.signInAnew() }
            #expect(try await service.words("SELECT unproven_dialect FROM provider_identities") == ["wordpress"])
            try await service.unblock(userID)
            #expect(try await signIn(create: false).tokens.userID == userID)
        }
    }

    @Test func `A lookup by the user's credentials is refused, and returns no proofs`() async throws {
        try await TestService.run { service in
            let userID = try await service.signInAnew().userID
            let token = try service.provider.appleToken(at: service.clock, ["jti": .string("look")])
            func find() async throws -> IdentityV1.FindAccountResponse {
                try await service.findAccount { ($0.idToken, $0.nonce) = (token, TestProvider.rawNonce) }
            }
            #expect(try await find().hasCallerProofs)
            try await service.block(userID)
            await refused { _ = try await find() }
            try await service.unblock(userID)
            #expect(try await find().hasCallerProofs)
        }
    }

    @Test func `Each other identity of the account is refused`() async throws {
        try await TestService.runWithAudiences { service in
            let userID = try await service.signInAnew().userID
            let google = try googleToken(service)
            let other = try await service.signIn(token: google, provider: "google").tokens.userID
            let (account, moved) = (try #require(UserID(userID)), try #require(UserID(other)))
            // As a linked identity.
            try await service.database.execute(
                "UPDATE provider_identities SET user_id = \(account.uuid) WHERE user_id = \(moved.uuid)"
            )
            try await service.block(userID)
            service.clock.advance(seconds: 1)
            let again = try googleToken(service)
            await refused { _ = try await service.signIn(token: again, provider: "google") }
        }
    }

    @Test func `Blocking again only changes the reason, and is an event only if it changes something`() async throws {
        try await TestService.run { service in
            let userID = try await service.signInAnew().userID
            let account = "SELECT extract(epoch FROM blocked_at)::bigint || ' ' || block_reason FROM accounts"
            try await service.block(userID)
            let since = service.clock.nowSeconds
            service.pass(seconds: 5)
            for _ in 0..<2 { #expect(try await service.block(userID).wasBlocked) }
            #expect(try await service.words(account) == ["\(since) abuse"])
            try await service.block(userID, reason: "lost_phone")
            #expect(try await service.words(account) == ["\(since) lost_phone"])
            let name = #""operator": "\#(TestService.operatorName)""#
            #expect(
                try await service.events("account_blocked") == [
                    #"account_blocked {"reason": "abuse", \#(name), "sessions": 1}"#,
                    #"account_blocked {"reason": "lost_phone", \#(name), "sessions": 0}"#,
                ]
            )
            #expect(try await service.unblock(userID).wasBlocked)
            #expect(try await service.unblock(userID).wasBlocked == false)
            #expect(try await service.events("account_unblocked") == ["account_unblocked {\(name)}"])
            let nobody = "00000000-0000-4000-8000-000000000000"
            for call in [{ _ = try await service.block(nobody) }, { _ = try await service.unblock(nobody) }] {
                await expectFailure(.notFound, "ACCOUNT_NOT_FOUND", call)
            }
            for reason in ["", "Abuse", "two words", "é", String(repeating: "a", count: 65)] {
                await expectFailure(.invalidArgument, "BLOCK_REASON_INVALID") {
                    try await service.block(userID, reason: reason)
                }
            }
            try await service.block(userID, reason: String(repeating: "a", count: 64))
        }
    }

    @Test func `A blocked account can be deleted, and its user is new afterwards`() async throws {
        try await TestService.run { service in
            let userID = try await service.signInAnew().userID
            try await service.block(userID)
            try await service.remove(userID)
            #expect(try await service.signInAnew().userID != userID)
        }
    }

    @Test(arguments: ["security_events", "revocations"])
    func `A block that fails changes nothing`(table: String) async throws {
        try await TestService.run { service in
            let tokens = try await service.signInAnew()
            try await service.database.execute(
                "ALTER TABLE \(unsafeSQL: table) ADD CONSTRAINT broken CHECK (false) NOT VALID"
            )
            await #expect(throws: RPCError.self) { try await service.block(tokens.userID) }
            _ = try await service.check(tokens.accessToken)
            #expect(try await service.words("SELECT user_id::text FROM accounts WHERE blocked_at IS NOT NULL").isEmpty)
            try await service.database.execute("ALTER TABLE \(unsafeSQL: table) DROP CONSTRAINT broken")
            try await service.block(tokens.userID)
            await refused { _ = try await service.signInAnew() }
        }
    }

    @Test(arguments: 1...3)
    func `Of sign-ins and refreshes concurrent to a block none leaves a live session`(seed: Int) async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            for round in 0..<8 {
                try await withThrowingTaskGroup { tasks in
                    for index in 0..<6 {
                        tasks.addTask {
                            do {
                                _ = try await service.signIn(changes: ["jti": .string("\(seed)-\(round)-\(index)")])
                            } catch let error as RPCError {
                                #expect(error.reason == "ACCOUNT_BLOCKED")
                            }
                        }
                        if index == (seed + round) % 6 {
                            for _ in 0..<2 { tasks.addTask { try await service.block(session.userID) } }
                        }
                    }
                    try await tasks.waitForAll()
                }
                let live = "SELECT session_id::text FROM sessions WHERE revoked_at IS NULL"
                #expect(try await service.words(live).isEmpty)
                await refused { _ = try await service.signInAnew() }
                try await service.unblock(session.userID)
                _ = try await service.signInAnew()
                service.pass(seconds: 1)
            }
        }
    }

    @Test func `A sign-in that waits for a block is rolled back, and one that a block waits for is ended`()
        async throws
    {
        try await TestService.run { service in
            let first = try await service.signInAnew()
            let userID = try #require(UserID(first.userID))
            // Holds the account like a block that is not committed yet.
            let signIn = try await service.database.withTransaction { transaction in
                try await transaction.execute(
                    "UPDATE accounts SET blocked_at = now(), block_reason = 'abuse' WHERE user_id = \(userID.uuid)"
                )
                let signIn = Task { try await service.signInAnew() }
                try await service.database.waitForLockWaits()
                return signIn
            }
            await refused { _ = try await signIn.value }
            #expect(try await service.count("sessions") == 1)
            try await service.unblock(first.userID)

            // Holds the account like a sign-in that is not committed yet.
            let second: SessionID = IdentifierSource(clock: service.clock.wallClock).make()
            let block = try await service.database.withTransaction { transaction in
                try await transaction.execute(
                    """
                    INSERT INTO sessions SELECT (jsonb_populate_record(sessions,
                        jsonb_build_object('session_id', \(second.uuid)))).* FROM sessions
                    """
                )
                try await transaction.query("SELECT FROM accounts WHERE user_id = \(userID.uuid) FOR NO KEY UPDATE")
                let block = Task { try await service.block(first.userID) }
                try await service.database.waitForLockWaits()
                return block
            }
            #expect(try await block.value.endedSessions == 2)
            #expect(try await service.words("SELECT session_id::text FROM sessions WHERE revoked_at IS NULL").isEmpty)
        }
    }
}
