import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import SwiftProtobuf
import Testing

@testable import IdentityService

/// A session that neither a nonce nor a code has proven deletes nothing at once.
struct ScheduledDeletionTests {
    private static let day: Int64 = 86_400

    @Test(arguments: [0, 1_200] as [Int64])
    func `A sign-in by a token without nonce schedules the deletion, however old it is`(age: Int64) async throws {
        try await TestService.runWithAudiences { service in
            let session = try await service.signInBare()
            service.clock.advance(seconds: age)
            let token = try await service.refresh(session.refreshToken).tokens.accessToken
            let asked = service.clock.nowMilliseconds
            #expect(try await service.askForDeletion(token).deletesAtMs == asked + 7 * Self.day * 1000)
            // The answer may have been lost: asking again changes nothing.
            service.clock.advance(seconds: 30)
            #expect(try await service.askForDeletion(token).deletesAtMs == asked + 7 * Self.day * 1000)
            #expect(try await service.check(token).userID == session.userID)
            #expect(try await service.count("account_closings") == 0)
            #expect(try await service.count("scheduled_deletions") == 1)
            let told = "SELECT session_id || ' ' || (details ->> 'deletes_at') FROM security_events WHERE kind ="
            #expect(
                try await service.words("\(told) 'deletion_scheduled'")
                    == ["\(session.sessionID) \(service.text(asked + 7 * Self.day * 1000))"]
            )
            let listed = try await service.client.listSessions(.with { $0.accessToken = token })
            #expect(listed.deletesAtMs == asked + 7 * Self.day * 1000)
            #expect(listed.recentChanges.map(\.kind) == ["deletion_scheduled"])
            #expect(listed.recentChanges.map(\.sessionID) == [session.sessionID])
            #expect(service.deletions("scheduled") == 1)
        }
    }

    @Test(arguments: ["fresh", "access_token"])
    func `A thief with one token deletes nobody`(proof: String) async throws {
        try await TestService.run { service in
            let owner = try await service.signInAnew()
            let single = try await service.signInSingle()
            try await service.setProof(proof, of: single)
            #expect(try await service.askForDeletion(single.singleToken).deletesAtMs > 0)
            // The owner's own session sees and undoes it.
            let list = IdentityV1.ListSessionsRequest.with { $0.accessToken = owner.accessToken }
            #expect(try await service.client.listSessions(list).deletesAtMs > 0)
            try await service.cancelDeletion(owner.accessToken)
            #expect(try await service.client.listSessions(list).deletesAtMs == 0)
            service.clock.advance(seconds: 8 * Self.day)
            await service.parts.deletions.round()
            #expect(try await service.count("accounts") == 1)
            #expect(try await service.count("account_closings") == 0)
        }
    }

    @Test func `An access token of the provider's proves too little`() async throws {
        try await TestService.run { service in
            try service.exchange.answer(
                service.googleToken(),
                for: "leaked",
                service: service,
                provider: try #require(ProviderName("google"))
            )
            let thief = try await service.signIn {
                ($0.provider, $0.accessToken, $0.clientID) = ("google", "leaked", "example.apps.googleusercontent.com")
            }
            #expect(try await service.askForDeletion(thief.tokens.accessToken).deletesAtMs > 0)
            _ = try await service.check(thief.tokens.accessToken)
        }
    }

    @Test func `A session that is proven deletes at once, whatever is scheduled`() async throws {
        try await TestService.runWithAudiences { service in
            let weak = try await service.signInBare()
            _ = try await service.askForDeletion(weak.accessToken)
            let strong = try await service.signInAnew()
            #expect(strong.userID == weak.userID)
            #expect(try await service.askForDeletion(strong.accessToken).deletesAtMs == 0)
            #expect(try await service.count("accounts") == 0)
            #expect(try await service.count("scheduled_deletions") == 0)
        }
    }

    @Test func `Until its time nothing is deleted, and then all of the account`() async throws {
        try await TestService.runWithAudiences { service in
            let session = try await service.signInBare()
            _ = try await service.askForDeletion(session.accessToken)
            service.clock.advance(seconds: 7 * Self.day - 1)
            await service.parts.deletions.round()
            #expect(try await service.count("accounts") == 1)
            service.clock.advance(seconds: 1)
            let refreshed = try await service.refresh(session.refreshToken).tokens
            await service.parts.deletions.round()
            await expectFailure(.unauthenticated, "SESSION_INVALID") {
                _ = try await service.check(refreshed.accessToken)
            }
            #expect(try await service.words("SELECT why FROM account_closings") == ["deleted"])
            #expect(try await service.count("work WHERE queue LIKE 'closings.%'") == 2)
            #expect(try await service.count("scheduled_deletions") == 0)
            #expect(
                try await service.words("SELECT details ->> 'by' FROM security_events WHERE kind = 'account_deleted'")
                    == ["owner"]
            )
            #expect(service.deletions("done") == 1)
            // Too late for that, and a repetition of the question is answered.
            await expectFailure(.unauthenticated, "SESSION_INVALID") {
                try await service.cancelDeletion(refreshed.accessToken)
            }
            #expect(try await service.askForDeletion(refreshed.accessToken).deletesAtMs == 0)
        }
    }

    @Test func `The delay is the configuration's`() async throws {
        var limits = SessionLimits()
        limits.deletionDelaySeconds = Self.day
        try await TestService.runWithAudiences(limits: limits) { service in
            let session = try await service.signInBare()
            let deletesAt = try await service.askForDeletion(session.accessToken).deletesAtMs
            #expect(deletesAt == service.clock.nowMilliseconds + Self.day * 1000)
        }
    }

    @Test func `A deletion is cancelled once, and told`() async throws {
        try await TestService.runWithAudiences { service in
            let targets = [WebhookTargets.target("all"), WebhookTargets.target("made", types: [.accountCreated])]
            #expect(await service.deliverer(targets, TestHTTP()).register(areNew: true))
            let session = try await service.signInBare()
            let other = try await service.signInAnew(subject: "002.person")
            _ = try await service.askForDeletion(session.accessToken)
            // Somebody else's session cancels its own account's alone.
            try await service.cancelDeletion(other.accessToken)
            #expect(try await service.count("scheduled_deletions") == 1)
            try await service.cancelDeletion(session.accessToken)
            try await service.cancelDeletion(session.accessToken)
            #expect(try await service.count("scheduled_deletions") == 0)
            let told = try await service.words(
                "SELECT target || ' ' || type || ' ' || (data ->> 'user_id') || ' ' || (data ->> 'session_id') "
                    + "FROM \(TestService.webhooks) WHERE type LIKE '%deletion%' ORDER BY event_id, target"
            )
            let ids = "\(session.userID) \(session.sessionID)"
            #expect(
                Set(told) == ["all account.deletion_scheduled \(ids)", "all account.deletion_cancelled \(ids)"]
                    && told.count == 2
            )
            let times =
                "SELECT data ->> 'deletes_at' FROM \(TestService.webhooks) WHERE type = 'account.deletion_scheduled'"
            #expect(
                try await service.words(times) == [service.text(service.clock.nowMilliseconds + 7 * Self.day * 1000)]
            )
            #expect(service.deletions("cancelled") == 1)
            // It can be scheduled anew, for later.
            service.clock.advance(seconds: 60)
            let again = try await service.askForDeletion(session.accessToken).deletesAtMs
            #expect(again == service.clock.nowMilliseconds + 7 * Self.day * 1000)
        }
    }

    @Test func `A session that ended neither schedules nor cancels`() async throws {
        try await TestService.runWithAudiences { service in
            let (first, second) = (try await service.signInBare(), try await service.signInBare())
            try await service.signOut(accessToken: first.accessToken)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.askForDeletion(first.accessToken)
            }
            _ = try await service.askForDeletion(second.accessToken)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                try await service.cancelDeletion(first.accessToken)
            }
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") {
                try await service.cancelDeletion("nonsense")
            }
            #expect(try await service.count("scheduled_deletions") == 1)
        }
    }

    @Test func `A deletion that fails blocks no other, and is retried`() async throws {
        try await TestService.runWithAudiences { service in
            var users: [String] = []
            for index in 0..<3 {
                let session = try await service.signInBare(subject: "00\(index).person")
                _ = try await service.askForDeletion(session.accessToken)
                users.append(session.userID)
                service.clock.advance(seconds: 1)
            }
            try await service.database.execute(
                """
                ALTER TABLE account_closings ADD CONSTRAINT broken
                    CHECK (user_id <> '\(unsafeSQL: users[0])') NOT VALID
                """
            )
            service.clock.advance(seconds: 8 * Self.day)
            await service.parts.deletions.round()
            #expect(try await service.words("SELECT user_id::text FROM accounts") == [users[0]])
            #expect(service.deletions("failed") == 1 && service.deletions("done") == 2)
            // It waits, twice as long each time.
            await service.parts.deletions.round()
            #expect(service.deletions("failed") == 1)
            service.clock.advance(seconds: 1)
            await service.parts.deletions.round()
            #expect(service.deletions("failed") == 2)
            service.clock.advance(seconds: 1)
            await service.parts.deletions.round()
            #expect(service.deletions("failed") == 2)
            try await service.database.execute("ALTER TABLE account_closings DROP CONSTRAINT broken")
            service.clock.advance(seconds: 1)
            await service.parts.deletions.round()
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test func `Replicas at one moment delete each account once`() async throws {
        try await TestService.runWithAudiences { service in
            for index in 0..<40 {
                let session = try await service.signInBare(subject: "\(index).person")
                _ = try await service.askForDeletion(session.accessToken)
            }
            service.clock.advance(seconds: 8 * Self.day)
            // On a busy machine a deletion may take longer than it may, and is tried again.
            for _ in 0..<20 where try await service.count("accounts") > 0 {
                await withDiscardingTaskGroup { tasks in
                    for _ in 0..<3 { tasks.addTask { await service.parts.deletions.round() } }
                }
                service.clock.advance(seconds: 3_600)
            }
            #expect(try await service.count("accounts") == 0)
            #expect(try await service.count("account_closings") == 40)
            #expect(try await service.count("work WHERE queue LIKE 'closings.%'") == 80)
            #expect(service.deletions("done") == 40)
        }
    }

    @Test func `A blocked account waits, and has the whole delay again once it is unblocked`() async throws {
        try await TestService.runWithAudiences { service in
            let session = try await service.signInBare()
            _ = try await service.askForDeletion(session.accessToken)
            try await service.block(session.userID)
            service.clock.advance(seconds: 8 * Self.day)
            await service.parts.deletions.round()
            #expect(try await service.count("accounts") == 1)
            try await service.unblock(session.userID)
            await service.parts.deletions.round()
            #expect(try await service.count("accounts") == 1)
            service.clock.advance(seconds: 7 * Self.day - 1)
            await service.parts.deletions.round()
            #expect(try await service.count("accounts") == 1)
            service.clock.advance(seconds: 1)
            await service.parts.deletions.round()
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test(arguments: 1...3)
    func `A cancellation or the deletion comes first, and the account is whole or gone`(seed: Int) async throws {
        try await TestService.runWithAudiences { service in
            for round in 0..<6 {
                let session = try await service.signInBare(subject: "\(seed).\(round)")
                _ = try await service.askForDeletion(session.accessToken)
                service.clock.advance(seconds: 7 * Self.day)
                let token = try await service.refresh(session.refreshToken).tokens.accessToken
                let before = try await service.count("account_closings")
                async let deleting: Void = service.parts.deletions.round()
                let isCancelled: Bool
                do {
                    try await service.cancelDeletion(token)
                    isCancelled = true
                } catch let error as RPCError {
                    #expect(error.reason == "SESSION_INVALID")
                    isCancelled = false
                }
                await deleting
                #expect(try await service.count("account_closings") == before + (isCancelled ? 0 : 1))
                #expect(try await service.count("scheduled_deletions") == 0)
                if isCancelled { _ = try await service.check(token) }
            }
        }
    }

    @Test func `The operator's trace and export know of it`() async throws {
        try await TestService.runWithAudiences { service in
            let session = try await service.signInBare()
            _ = try await service.askForDeletion(session.accessToken)
            let userID = try #require(UserID(session.userID))
            let store = service.parts.methods.store
            #expect(try await store.trace(userID).held.first { $0.name == "scheduled_deletions" }?.count == 1)
            let export = try await store.export(userID, nowMilliseconds: service.clock.nowMilliseconds)
            let json = try JSONObject(parsing: Array(export.utf8))
            #expect(json["scheduled_deletion"]?.object?["deletes_at"] != nil)
        }
    }
}

extension TestService {
    /// Opens a session by a token without nonce, which is proven by being fresh.
    func signInBare(subject: String = "001.person") async throws -> IdentityV1.SessionTokens {
        let unique: [String: JSONValue?] = ["jti": .string(Base64URL.encode(SecureRandom.bytes(12)))]
        let token = try provider.bareToken(subject: subject, at: clock, unique)
        return try await signIn { $0.idToken = token }.tokens
    }

    /// Asks for a deletion, by credentials too if there are any.
    func askForDeletion(
        _ accessToken: String,
        _ make: ((inout IdentityV1.SignInRequest) throws -> Void)? = nil
    ) async throws -> IdentityV1.DeleteAccountResponse {
        var request = IdentityV1.DeleteAccountRequest()
        request.accessToken = accessToken
        try make?(&request.credentials)
        return try await client.deleteAccount(request)
    }

    func cancelDeletion(_ accessToken: String) async throws {
        _ = try await client.cancelDeletion(.with { $0.accessToken = accessToken })
    }

    /// How many scheduled deletions came to this.
    func deletions(_ outcome: DeletionMetrics.Outcome.RawValue) -> Int? {
        var text = MetricsText()
        parts.deletions.metrics.write(to: &text)
        let name = "vestibule_identity_scheduled_deletions_total{outcome=\"\(outcome)\"} "
        return text.text.split(separator: "\n").first { $0.hasPrefix(name) }.flatMap { Int($0.dropFirst(name.count)) }
    }

    /// A moment as the audit log writes it.
    func text(_ milliseconds: Int64) -> String {
        // The test's clock begins here.
        let rest = milliseconds - 1_800_000_000_000
        let (days, seconds) = (rest / 86_400_000, rest % 86_400_000 / 1000)
        let time = 8 * 3600 + seconds
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "2027-01-\(two(15 + days))T\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)).000Z"
    }
}
