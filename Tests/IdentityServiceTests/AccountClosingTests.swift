import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import SwiftProtobuf
import Testing

@testable import IdentityService

/// A user deletes their account, and is new at the next sign-in.
struct AccountClosingTests {
    @Test func `A deletion removes the whole account, publishes its sessions, and the person is new afterwards`()
        async throws
    {
        try await TestService.run { service in
            let first = try await service.signInAnew()
            let second = try await service.signInAnew()
            let other = try await service.signInAnew(subject: "002.person")
            let userID = try await service.check(first.accessToken).userID
            var change = IdentityV1.UpdateUserMetadataRequest()
            change.changesJson = #"{"colour":"blue"}"#
            _ = try await service.client.updateUserMetadata(change, options: service.options(for: userID))
            try await service.delete(first.accessToken)

            for token in [first, second] {
                await expectFailure(.unauthenticated, "SESSION_INVALID") {
                    _ = try await service.check(token.accessToken)
                }
                await expectFailure(.unauthenticated, "SESSION_INVALID") {
                    _ = try await service.refresh(token.refreshToken)
                }
            }
            _ = try await service.check(other.accessToken)
            for table in ["accounts", "provider_identities", "sessions"] {
                #expect(try await service.count(table) == 1)
            }
            #expect(try await service.count("user_metadata") == 0)
            let closings = "SELECT why FROM account_closings WHERE user_id::text = '\(userID)'"
            #expect(try await service.words(closings) == ["deleted"])
            let told = try await service.words("SELECT session_id::text FROM revocations")
            #expect(Set(told) == [first.sessionID, second.sessionID])
            let event = "SELECT details->>'by' FROM security_events WHERE kind = 'account_deleted' AND user_id::text ="
            #expect(try await service.words("\(event) '\(userID)'") == ["owner"])
            #expect(
                try await service.words("SELECT details->>'reason' FROM security_events WHERE kind = 'session_ended'")
                    == ["account_deleted", "account_deleted"]
            )
            // A call that was authenticated before the deletion doesn't find the account.
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") {
                _ = try await service.client.updateUserMetadata(change, options: service.options(for: userID))
            }

            let again = try await service.signIn(changes: ["jti": "again"])
            #expect(again.isNewUser)
            #expect(try await service.check(again.tokens.accessToken).userID != userID)
        }
    }

    @Test func `The answer names the providers whose consent the user must withdraw, also when repeated`()
        async throws
    {
        try await TestService.run { service in
            let left = try await service.signInAnew()
            #expect(try await service.delete(left.accessToken) == ["apple"])
            #expect(try await service.delete(left.accessToken) == ["apple"])
            #expect(try await service.words("SELECT unnest(consents_left) FROM account_closings") == ["apple"])
        }
        try await GrantBench.run { bench in
            let kept = try await bench.keepTokens(1)[0]
            var request = IdentityV1.DeleteAccountRequest()
            request.accessToken = kept.tokens.accessToken
            for _ in 1...2 {
                let answer = try await bench.bench.methods.deleteAccount(
                    request,
                    context: ExchangeBench.context("DeleteAccount")
                )
                #expect(answer.consentsLeft.isEmpty)
            }
        }
    }

    @Test func `A provider's token that was used stays used`() async throws {
        try await TestService.run { service in
            let token = try service.provider.appleToken(at: service.clock)
            let session = try await service.signIn(token: token).tokens
            try await service.delete(session.accessToken)
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") { _ = try await service.signIn(token: token) }
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test func `Only a session that was opened a moment ago deletes`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            service.pass(seconds: 599)
            let refreshed = try await service.refresh(session.refreshToken).tokens
            service.pass(seconds: 2)
            await expectFailure(.permissionDenied, "RECENT_SIGN_IN_REQUIRED") {
                try await service.delete(refreshed.accessToken)
            }
            _ = try await service.check(refreshed.accessToken)
            #expect(try await service.count("work WHERE queue LIKE 'closings.%'") == 0)
            let recent = try await service.signInAnew()
            service.pass(seconds: 590)
            try await service.delete(recent.accessToken)
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test func `If the deployment allows it, any session deletes`() async throws {
        var limits = SessionLimits()
        limits.deletionSignInSeconds = 0
        try await TestService.run(limits: limits) { service in
            let session = try await service.signInAnew()
            service.pass(seconds: 500)
            let refreshed = try await service.refresh(session.refreshToken).tokens
            service.pass(seconds: 400)
            try await service.delete(refreshed.accessToken)
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test func `A repeated deletion gets the same answer, with any access token of the account`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let other = try await service.signInAnew(subject: "002.person")
            try await service.delete(session.accessToken)
            try await service.delete(session.accessToken)
            #expect(try await service.count("account_closings") == 1)
            #expect(try await service.count("work WHERE queue LIKE 'closings.%'") == 2)
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") { try await service.delete("nonsense") }
            // A session that ended for another reason deletes nothing.
            try await service.signOut(accessToken: other.accessToken)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { try await service.delete(other.accessToken) }
            service.pass(seconds: 601)
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_EXPIRED") {
                try await service.delete(session.accessToken)
            }
            #expect(try await service.count("accounts") == 1)
        }
    }

    @Test func `An operator deletes any account by its id`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let userID = try await service.check(session.accessToken).userID
            try await service.remove(userID)
            try await service.remove(userID)
            #expect(try await service.words("SELECT why FROM account_closings") == ["operator"])
            await expectFailure(.unauthenticated, "SESSION_INVALID") {
                _ = try await service.check(session.accessToken)
            }
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") {
                try await service.remove("00000000-0000-4000-8000-000000000000")
            }
            await expectFailure(.invalidArgument, "USER_ID_INVALID") { try await service.remove("me") }
        }
    }

    @Test func `The state of an account says whether it was closed`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let userID = try await service.check(session.accessToken).userID
            #expect(try await service.isClosed(userID) == false)
            let seen = try await service.client.getAccountState(.with { $0.userID = userID }).lastSeenAtMs
            #expect(seen == service.clock.nowMilliseconds, "signed in now")
            try await service.delete(session.accessToken)
            #expect(try await service.isClosed(userID))
            #expect(try await service.isClosed("00000000-0000-4000-8000-000000000000") == false)
        }
    }

    @Test(arguments: ["work", "account_closings", "security_events", "revocations"])
    func `A deletion that fails at any step changes nothing`(table: String) async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            try await service.database.execute(
                "ALTER TABLE \(unsafeSQL: table) ADD CONSTRAINT broken CHECK (false) NOT VALID"
            )
            await #expect(throws: RPCError.self) { try await service.delete(session.accessToken) }
            _ = try await service.check(session.accessToken)
            #expect(try await service.count("account_closings") == 0)
            try await service.database.execute("ALTER TABLE \(unsafeSQL: table) DROP CONSTRAINT broken")
            try await service.delete(session.accessToken)
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test(arguments: 1...3)
    func `Concurrent sign-ins, refreshes and deletions leave a whole account or none`(seed: Int) async throws {
        try await TestService.run { service in
            for round in 0..<6 {
                let session = try await service.signInAnew()
                try await withThrowingTaskGroup { tasks in
                    for index in 0..<4 {
                        tasks.addTask {
                            _ = try await service.signIn(changes: ["jti": .string("\(seed)-\(round)-\(index)")])
                        }
                    }
                    for _ in 0..<2 { tasks.addTask { try await service.delete(session.accessToken) } }
                    tasks.addTask {
                        do { _ = try await service.refresh(session.refreshToken) } catch let error as RPCError {
                            #expect(error.code == .unauthenticated)
                        }
                    }
                    try await tasks.waitForAll()
                }
                #expect(try await service.count("account_closings") == Int64(round + 1))
                #expect(try await service.count("work WHERE queue LIKE 'closings.%'") == Int64(2 * round + 2))
                // A later sign-in has created one account at most, with all its rows.
                #expect(try await service.count("accounts") <= 1)
                #expect(try await service.count("provider_identities") == service.count("accounts"))
                #expect(
                    try await service.words(
                        """
                        SELECT s.session_id::text FROM sessions s LEFT JOIN provider_identities i USING (user_id)
                        WHERE i.user_id IS NULL
                        """
                    ).isEmpty
                )
                let left = try await service.words("SELECT user_id::text FROM accounts")
                for userID in left { try await service.remove(userID) }
                try await service.database.execute("DELETE FROM account_closings WHERE why = 'operator'")
                try await service.database.execute(
                    "DELETE FROM work WHERE user_id NOT IN (SELECT user_id FROM account_closings)"
                )
                service.pass(seconds: 1)
            }
        }
    }
}

extension TestService {
    /// Deletes the account that an access token belongs to.
    ///
    /// - Returns: the providers at which the user has to withdraw consent.
    @discardableResult func delete(_ accessToken: String) async throws -> [String] {
        var request = IdentityV1.DeleteAccountRequest()
        request.accessToken = accessToken
        return try await client.deleteAccount(request).consentsLeft
    }

    /// Deletes an account as an operator does.
    func remove(_ userID: String) async throws {
        var request = IdentityV1.RemoveAccountRequest()
        request.userID = userID
        _ = try await client.removeAccount(request)
    }

    func isClosed(_ userID: String) async throws -> Bool {
        var request = IdentityV1.GetAccountStateRequest()
        request.userID = userID
        return try await client.getAccountState(request).isClosed
    }

    /// The first column of each row.
    func words(_ sql: String) async throws -> [String] {
        try await database.query(Query(unsafeSQL: sql)).map { try $0.decode(0, as: String.self) }
    }
}
