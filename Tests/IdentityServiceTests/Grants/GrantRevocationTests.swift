import API
import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import Postgres
import ServiceModels
import Testing

@testable import IdentityService

struct GrantRevocationTests {
    @Test func `A token is kept until the provider has confirmed its revocation, and then forgotten`() async throws {
        try await GrantBench.run { bench in
            let person = try await bench.keepTokens(1)[0]
            #expect(try await bench.abandon(person.tokens.userID) == 1)
            bench.bench.http.answer { _ throws(OutgoingHTTPError) in
                throw OutgoingHTTPError(.timeout, mayHaveBeenSent: true)
            }
            await bench.grants.revoker.round()
            let asked = bench.bench.http.requests.count
            await bench.grants.revoker.round()
            #expect(bench.bench.http.requests.count == asked, "not before a minute is over")
            // A minute, then two, four, and so on.
            for (index, status) in [503, 400, 429].enumerated() {
                bench.bench.clock.advance(seconds: 60 << Int64(index))
                bench.bench.http.answer(status, #"{"error":"invalid_client"}"#)
                await bench.grants.revoker.round()
                #expect(bench.bench.http.requests.count == asked + 1 + index)
                #expect(try await bench.rows("revoking") == 1)
            }
            bench.bench.clock.advance(seconds: 480)
            bench.bench.http.answer(200, "")
            await bench.grants.revoker.round()
            #expect(try await bench.rows("revoking") == 0)
            let request = try #require(bench.bench.http.requests.last)
            #expect("\(request)" == "POST https://provider.example/apple/revoke")
            #expect(request.field("token") == "r0" && request.field("token_type_hint") == "refresh_token")
            #expect(request.field("client_id") == "com.example.app")
            let secret = try CompactJWS(parsing: #require(request.field("client_secret")))
            let claims = try JSONObject(parsing: secret.verifiedPayload(with: bench.bench.appleKey.verificationKey))
            #expect(claims["sub"] == "com.example.app" && claims["iss"] == "ABCDE12345")
            for (outcome, count) in [("done", "1"), ("unavailable", "3"), ("not_configured", "1")] {
                let name = #"vestibule_identity_provider_revocations_total{provider="apple",outcome="\#(outcome)"}"#
                #expect(bench.metric(name) == count)
            }
            #expect(!bench.bench.log.text.contains("r0"))
        }
    }

    @Test func `The pause between tries ends at six hours`() async throws {
        try await GrantBench.run { bench in
            let person = try await bench.keepTokens(1)[0]
            try await bench.abandon(person.tokens.userID)
            bench.apple.setTrouble(503)
            var waited: Int64 = 0
            for _ in 0..<30 {
                await bench.grants.revoker.round()
                let rows = try await bench.store.database.query("SELECT next_at FROM provider_grants")
                let next = try #require(rows.first).decode(0, as: PostgresTimestamp.self).milliseconds
                waited = (next - bench.now) / 1000
                bench.bench.clock.advance(seconds: waited)
            }
            #expect(waited == 6 * 3_600)
        }
    }

    @Test func `A token that can't be revoked for thirty days is given up, and reported`() async throws {
        try await GrantBench.run { bench in
            let people = try await bench.keepTokens(2)
            try await bench.abandon(people[0].tokens.userID)
            // Its provider never answers, and isn't even asked if keys or the configuration are missing.
            let age: Query =
                "UPDATE provider_grants SET abandoned_at = abandoned_at - interval '15 days' WHERE state = 'revoking'"
            try await bench.store.database.execute(age)
            #expect(try await bench.grants.giveUp(limit: 10) == 0)
            #expect(try await bench.rows("revoking") == 1)
            try await bench.store.database.execute(age)
            #expect(try await bench.grants.giveUp(limit: 10) == 1)
            #expect(try await bench.rows("revoking") == 0)
            #expect(try await bench.rows("kept") == 1, "what is in use has no end")
            #expect(bench.metric("vestibule_identity_provider_tokens_given_up_total") == "1")
            let told = try await bench.store.database.query(
                """
                SELECT user_id::text || ' ' || (details->>'provider') || ' ' || (details->>'given_up') FROM security_events
                WHERE kind = 'provider_token_revoked'
                """
            ).map { try $0.decode(0, as: String.self) }
            #expect(told == ["\(people[0].tokens.userID) apple true"])
            #expect(bench.bench.log.text.contains("given up"))
        }
    }

    @Test func `Only tokens of closed accounts are revoked, and only after the commit`() async throws {
        struct Undone: Error {}
        try await GrantBench.run { bench in
            let people = try await bench.keepTokens(2)
            let first = try #require(UserID(people[0].tokens.userID))
            await #expect(throws: Undone.self) {
                try await bench.store.database.withTransaction { transaction in
                    try await bench.store.abandonGrants(of: first, provider: nil, in: transaction)
                    throw Undone()
                }
            }
            #expect(try await bench.abandon(people[0].tokens.userID, provider: .google) == 0)
            #expect(try await bench.rows("kept") == 2)
            #expect(try await bench.abandon(people[0].tokens.userID, provider: .apple) == 1)
            #expect(try await bench.abandon(people[0].tokens.userID) == 0, "again is nothing")
            await bench.grants.revoker.round()
            #expect(bench.apple.revoked == ["r0"])
            #expect(try await bench.rows("kept") == 1)
        }
    }

    /// The token is stored while the account is being deleted: in either order, none stays stored.
    @Test func `An account that is closed while its token arrives has none left`() async throws {
        for tokenIsFirst in [true, false] {
            try await GrantBench.run { bench in
                let gate = TestGate()
                bench.apple.setTrouble { request throws(OutgoingHTTPError) in
                    if request.field("code") != nil { await gate.wait() }
                    return nil
                }
                let session = try await bench.signIn(refreshToken: "r")
                let userID = try #require(UserID(session.tokens.userID))
                try await bench.store.database.withTransaction { transaction in
                    if tokenIsFirst {
                        gate.open()
                        try await bench.waitForTokens(1)
                    }
                    try await bench.store.abandonGrants(of: userID, provider: nil, in: transaction)
                    try await transaction.execute("DELETE FROM provider_identities")
                    // It waits for the identity's row, which this transaction has locked.
                    gate.open()
                    try await Task.sleep(for: .milliseconds(50))
                }
                try await bench.waitForTokens(1, state: "revoking")
                #expect(try await bench.rows("kept") == 0)
                await bench.grants.revoker.round()
                #expect(bench.apple.revoked == ["r"])
            }
        }
    }

    @Test func `A token claimed by a replica that was killed is revoked by another`() async throws {
        try await GrantBench.run(replicas: 2) { bench in
            let people = try await bench.keepTokens(2)
            for person in people { try await bench.abandon(person.tokens.userID) }
            // Killed before the request.
            let taken = try await bench.store.claimRevocations(limit: 1, nowMilliseconds: bench.now)
            #expect(taken.count == 1)
            await bench.bench.replicas[1].grants.revoker.round()
            #expect(bench.apple.revoked.count == 1)
            bench.bench.clock.advance(seconds: 60)
            // Killed after the provider answered, before the row was deleted.
            let again = try await bench.store.claimRevocations(limit: 1, nowMilliseconds: bench.now)
            #expect(again == taken)
            let vault = try #require(VaultKeys(current: GrantBench.oldKey))
            let endpoints = GrantEndpoints(
                try #require(bench.bench.methods.providers[.apple]),
                http: bench.bench.http,
                clock: bench.bench.clock.wallClock
            )
            let token = try vault.open(again[0].sealed, at: again[0].place)
            #expect(await endpoints.revoke(token, clientID: "com.example.app").answer == .revoked)
            #expect(try await bench.rows("revoking") == 1)
            bench.bench.clock.advance(seconds: 120)
            await bench.bench.replicas[1].grants.revoker.round()
            #expect(bench.apple.revoked.count == 3 && Set(bench.apple.revoked) == ["r0", "r1"])
            #expect(try await bench.rows("revoking") == 0)
        }
    }

    @Test func `Replicas share the work, and each token is asked for once`() async throws {
        try await GrantBench.run(replicas: 2) { bench in
            let people = try await bench.keepTokens(70)
            for person in people { try await bench.abandon(person.tokens.userID) }
            async let first: Void = bench.bench.replicas[0].grants.revoker.round()
            async let second: Void = bench.bench.replicas[1].grants.revoker.round()
            _ = await (first, second)
            #expect(bench.apple.revoked.count == 70 && Set(bench.apple.revoked).count == 70)
            #expect(try await bench.rows("revoking") == 0)
        }
    }

    @Test func `A row that was tampered with, or swapped with another, is not sent to anybody and stays`()
        async throws
    {
        try await GrantBench.run { bench in
            let people = try await bench.keepTokens(3)
            try await bench.store.database.execute(
                """
                UPDATE provider_grants SET sealed_token = other.sealed_token FROM provider_grants other
                WHERE provider_grants.user_id = \(try #require(UserID(people[0].tokens.userID)).uuid)
                    AND other.user_id = \(try #require(UserID(people[1].tokens.userID)).uuid)
                """
            )
            try await bench.store.database.execute(
                """
                UPDATE provider_grants SET user_id = \(try #require(UserID(people[0].tokens.userID)).uuid), client_id = 'com.example.debug'
                WHERE user_id = \(try #require(UserID(people[2].tokens.userID)).uuid)
                """
            )
            #expect(try await bench.abandon(people[0].tokens.userID) == 2)
            await bench.grants.revoker.round()
            #expect(bench.apple.revoked.isEmpty)
            #expect(try await bench.rows("revoking") == 2)
            let unopened = #"vestibule_identity_provider_revocations_total{provider="apple",outcome="unopened"}"#
            #expect(bench.metric(unopened) == "2")
            try await bench.abandon(people[1].tokens.userID)
            await bench.grants.revoker.round()
            #expect(bench.apple.revoked == ["r1"])
        }
    }

    @Test func `Tokens whose key is missing wait, and are reported`() async throws {
        try await GrantBench.run { bench in
            let person = try await bench.keepTokens(1)[0]
            try await bench.abandon(person.tokens.userID)
            try bench.use(#require(VaultKeys(current: GrantBench.newKey)))
            await bench.grants.revoker.round()
            await bench.grants.look()
            #expect(bench.apple.revoked.isEmpty)
            #expect(bench.metric("vestibule_identity_provider_revocations_waiting") == "1")
            #expect(bench.metric(#"vestibule_identity_provider_tokens_not_current{key="unknown"}"#) == "1")
            // The folder is restored.
            try bench.use(#require(VaultKeys(current: GrantBench.newKey, retired: [GrantBench.oldKey])))
            bench.bench.clock.advance(seconds: 60)
            await bench.grants.revoker.round()
            await bench.grants.look()
            #expect(bench.apple.revoked == ["r0"])
            #expect(bench.metric("vestibule_identity_provider_revocations_waiting") == "0")
        }
    }

    @Test func `Without an endpoint no token waits; tokens of a provider that is no longer configured wait`()
        async throws
    {
        try await GrantBench.run { bench in
            let people = try await bench.keepTokens(2)
            for (person, provider) in [(people[0], "google"), (people[1], "elsewhere")] {
                try await bench.store.database.execute(
                    "UPDATE provider_grants SET provider = \(provider) WHERE user_id = \(try #require(UserID(person.tokens.userID)).uuid)"
                )
                try await bench.abandon(person.tokens.userID)
            }
            await bench.grants.revoker.round()
            let left: String = try #require(
                try await bench.store.database.query("SELECT provider FROM provider_grants").first
            ).decode(0)
            #expect(left == "elsewhere" && bench.apple.revoked.isEmpty)
        }
    }
}
