import API
import IdentityDomain
import Models
import OutgoingHTTP
import Postgres
import TestWaits
import Testing

@testable import IdentityService

struct GrantKeepingTests {
    @Test func `A sign-in is answered before its code is exchanged, and the token is stored encrypted`() async throws {
        try await GrantBench.run { bench in
            let gate = TestGate()
            bench.apple.setTrouble { _ throws(OutgoingHTTPError) in
                await gate.wait()
                return nil
            }
            let session = try await bench.signIn(refreshToken: "r.secret")
            #expect(session.isNewUser && session.proof == .nonce)
            #expect(try await bench.rows("kept") == 0)
            gate.open()
            try await bench.waitForTokens(1)
            #expect(try await bench.onlyToken() == "r.secret")
            let rows = try await bench.store.database.query(
                "SELECT user_id::text, provider, client_id, key_id, sealed_token, checked_at IS NULL FROM provider_grants"
            )
            let (userID, provider, client, keyID, sealed, isUnchecked) = try #require(rows.first).decode(
                String.self,
                String.self,
                String.self,
                String.self,
                [UInt8].self,
                Bool.self
            )
            #expect((userID, provider, client) == (session.tokens.userID, "apple", "com.example.app"))
            #expect(keyID == "old" && isUnchecked)
            #expect(!String(decoding: sealed, as: UTF8.self).contains("secret"))
            #expect(bench.bench.count("apple", "code_after_answer", "told") == "1")
            #expect(bench.metric(#"vestibule_identity_provider_tokens_total{provider="apple",outcome="kept"}"#) == "1")
            #expect(!bench.bench.log.text.contains("r.secret"))
        }
    }

    @Test func `If the code is the proof, the token is stored before the answer, and a retry stores it again`()
        async throws
    {
        try await GrantBench.run(replicas: 2) { bench in
            try bench.giveToken("001.person", code: "proof", refreshToken: "r.proof")
            let session = try await bench.signInByCode("proof")
            #expect(session.proof == .code)
            #expect(try await bench.onlyToken() == "r.proof")
            // As if the process had been killed between the exchange and the token's row.
            try await bench.store.database.execute("DELETE FROM provider_grants")
            #expect(try await bench.signInByCode("proof", replica: 1).tokens.userID == session.tokens.userID)
            #expect(try await bench.onlyToken() == "r.proof")
            #expect(bench.bench.http.requests.count == 1, "the code is spent")
        }
    }

    @Test func `The newest token wins in any order of exchanges, and the former one isn't revoked`() async throws {
        try await GrantBench.run { bench in
            let session = try await bench.signIn(code: "c1", refreshToken: "r1")
            try await bench.waitForTokens(1)
            let gate = TestGate()
            bench.apple.setTrouble { request throws(OutgoingHTTPError) in
                if request.field("code") == "c2" { await gate.wait() }
                return nil
            }
            bench.bench.clock.advance(seconds: 10)
            try await bench.signIn(code: "c2", refreshToken: "r2")
            bench.bench.clock.advance(seconds: 10)
            #expect(try await bench.signIn(code: "c3", refreshToken: "r3").tokens.userID == session.tokens.userID)
            try await eventually("the third") { try await bench.onlyToken() == "r3" }
            gate.open()
            let superseded = #"vestibule_identity_provider_tokens_total{provider="apple",outcome="superseded"}"#
            try await eventually("the second") { bench.metric(superseded) == "1" }
            #expect(try await bench.onlyToken() == "r3")
            await bench.grants.revoker.round()
            #expect(bench.apple.revoked.isEmpty)
        }
    }

    @Test func `A code of another person beside one's own ID token stores nothing`() async throws {
        try await GrantBench.run { bench in
            try await bench.signIn("001.thief", code: "stolen", codeOf: "002.victim")
            let refused = #"vestibule_identity_provider_tokens_total{provider="apple",outcome="refused"}"#
            try await eventually("the refusal") { bench.metric(refused) == "1" }
            #expect(try await bench.rows("kept") == 0)
            #expect(try await bench.rows("revoking") == 0)
        }
    }

    /// A bad code beside a good ID token is counted as a refusal that doesn't delay sign-ins by code.
    @Test func `Refusals behind answers keep nobody from signing in with a code`() async throws {
        try await GrantBench.run { bench in
            bench.apple.setTrouble { request throws(OutgoingHTTPError) in
                guard request.field("code")?.hasPrefix("made up") == true else { return nil }
                return OutgoingResponse(status: 400, body: Array(#"{"error":"invalid_grant"}"#.utf8))
            }
            for index in 0..<ExchangeAdmission.refusalsByClientMax + 5 {
                try await bench.signIn(code: "made up \(index)")
            }
            try bench.giveToken("002.person", code: "good", refreshToken: "r")
            #expect(try await bench.signInByCode("good").proof == .code)
        }
    }

    @Test func `A provider that is down for a moment is asked again`() async throws {
        try await GrantBench.run { bench in
            bench.apple.setTrouble(503)
            try await bench.signIn(refreshToken: "r.later")
            try await eventually("the first try") { bench.bench.http.requests.count == 1 }
            bench.apple.setTrouble(nil)
            try await bench.waitForTokens(1)
            #expect(try await bench.onlyToken() == "r.later")
        }
    }

    @Test func `Without a vault no token is requested`() async throws {
        try await GrantBench.run(hasVault: false) { bench in
            try await bench.signIn()
            try bench.giveToken("002.person", code: "proof", refreshToken: "r")
            try await bench.signInByCode("proof")
            #expect(bench.bench.http.requests.count == 1, "the proof")
            #expect(try await bench.rows("kept") == 0)
        }
    }

    @Test func `A token that arrives after the account's deletion is revoked`() async throws {
        try await GrantBench.run { bench in
            let gate = TestGate()
            bench.apple.setTrouble { request throws(OutgoingHTTPError) in
                if request.field("code") != nil { await gate.wait() }
                return nil
            }
            let session = try await bench.signIn(refreshToken: "r.late")
            #expect(try await bench.abandon(session.tokens.userID) == 0)
            try await bench.store.database.execute("DELETE FROM provider_identities")
            gate.open()
            try await bench.waitForTokens(1, state: "revoking")
            await bench.grants.revoker.round()
            #expect(bench.apple.revoked == ["r.late"])
            #expect(try await bench.rows("revoking") == 0)
        }
    }

    /// A revocation ends all that the person granted to the app, so it must not happen after they have come back.
    @Test func `A user who comes back before the token is revoked keeps the new one`() async throws {
        try await GrantBench.run { bench in
            let left = try await bench.signIn(code: "c1", refreshToken: "r1")
            try await bench.waitForTokens(1)
            let gate = TestGate()
            bench.apple.setTrouble { request throws(OutgoingHTTPError) in
                if request.field("code") == "late" { await gate.wait() }
                return nil
            }
            bench.bench.clock.advance(seconds: 1)
            try await bench.signIn(code: "late", refreshToken: "r.late")
            #expect(try await bench.abandon(left.tokens.userID) == 1)
            try await bench.store.database.execute("DELETE FROM provider_identities")
            bench.bench.clock.advance(seconds: 1)
            let back = try await bench.signIn(code: "c2", refreshToken: "r2")
            #expect(back.tokens.userID != left.tokens.userID && back.isNewUser)
            try await bench.waitForTokens(1)
            // An exchange still in progress for the deleted account would be revoked as well.
            gate.open()
            let superseded = #"vestibule_identity_provider_tokens_total{provider="apple",outcome="superseded"}"#
            try await eventually("the late one") { bench.metric(superseded) == "1" }
            await bench.grants.revoker.round()
            #expect(bench.apple.revoked.isEmpty)
            #expect(try await bench.onlyToken() == "r2")
        }
    }

    @Test func `Exchanges that wait when the process stops are counted as lost`() async throws {
        try await GrantBench.run { bench in
            let parts = bench.bench.replicas[0]
            let keeper = GrantKeeper(
                store: bench.store,
                keys: parts.methods.ownKeys,
                codes: parts.methods.codes,
                canExchange: { _ in true },
                metrics: bench.grants.metrics,
                clock: bench.bench.clock.wallClock,
                randomBytes: parts.methods.randomBytes,
                logger: bench.bench.log.logger
            )
            try bench.giveToken("001.person", code: "c", refreshToken: "r")
            let claims = try await bench.bench.exchange("c").claims
            var evidence = Evidence(
                fingerprint: [],
                claims: claims,
                proof: .nonce,
                fullName: "",
                email: "",
                toldOnceKeys: []
            )
            evidence.unexchangedCode = ExchangeBench.grant("another")
            let user = try #require(UserID("0190163d-8694-739b-aea5-966c26f8ad91"))
            for _ in 0..<GrantKeeper.waitingMax + 3 {
                await keeper.take(evidence, of: user, provider: .apple, address: nil, nowMilliseconds: bench.now)
            }
            let lost = #"vestibule_identity_provider_tokens_total{provider="apple",outcome="lost"}"#
            #expect(bench.metric(lost) == "3", "there is room for so many")
            let gate = TestGate()
            let running = Task {
                await gate.wait()
                await keeper.run()
            }
            running.cancel()
            await running.value
            #expect(bench.metric(lost) == "\(GrantKeeper.waitingMax + 3)")
            #expect(bench.bench.http.requests.count == 1)
        }
    }
}
