import API
import IdentityDomain
import Models
import OutgoingHTTP
import Postgres
import ServiceModels
import TestWaits
import Testing

@testable import IdentityService

struct GrantCheckTests {
    /// Longer than the time between two checks of a token.
    private static let aDay: Int64 = 26 * 3_600

    @Test func `Each token is checked once a day, by one of the replicas`() async throws {
        try await GrantBench.run(replicas: 2) { bench in
            _ = try await bench.keepTokens(3)
            await bench.grants.checker.round()
            #expect(bench.apple.checked.isEmpty, "they are new")
            for day in 1...3 {
                bench.bench.clock.advance(seconds: Self.aDay)
                for replica in [0, 1, 0, 1] { await bench.bench.replicas[replica].grants.checker.round() }
                #expect(bench.apple.checked.count == 3 * day)
                #expect(bench.apple.checked.suffix(3).sorted() == ["r0", "r1", "r2"])
            }
            let request = try #require(bench.bench.http.requests.last)
            #expect("\(request)" == "POST https://provider.example/apple/token")
            #expect(request.field("grant_type") == "refresh_token" && request.field("client_secret") != nil)
            #expect(bench.metric(#"vestibule_identity_provider_checks_total{provider="apple",outcome="done"}"#) != nil)
            #expect(try await bench.rows("kept") == 3)
        }
    }

    @Test func `The checks of many tokens are spread over time`() async throws {
        try await GrantBench.run { bench in
            _ = try await bench.keepTokens(20)
            let rows = try await bench.store.database.query(
                "SELECT extract(epoch FROM max(next_at) - min(next_at))::float8, extract(epoch FROM min(next_at) - min(granted_at))::float8 FROM provider_grants"
            )
            let (spread, first) = try #require(rows.first).decode(Double.self, Double.self)
            #expect(spread > 1_800 && spread <= 7_200 && first >= 86_400)
        }
    }

    @Test func `A user whom Apple refuses is signed out everywhere, and nobody else is`() async throws {
        try await GrantBench.run { bench in
            let people = try await bench.keepTokens(3)
            bench.bench.clock.advance(seconds: 1)
            try await bench.signIn("000.person", code: "again", refreshToken: "r0.again")
            try await eventually("the newer token") { try await bench.metricKept() == "4" }
            bench.apple.refuse("r0.again")
            bench.bench.clock.advance(seconds: Self.aDay)
            await bench.grants.checker.round()
            #expect(try await bench.sessions(people[0].tokens.userID, "provider") == 2)
            #expect(try await bench.sessions(people[0].tokens.userID, nil) == 0)
            #expect(try await bench.sessions(people[1].tokens.userID, nil) == 1)
            #expect(try await bench.rows("kept") == 2, "the dead token is forgotten")
            let told = try await bench.store.database.query(
                """
                SELECT count(*) FROM security_events
                WHERE kind = 'session_ended' AND details = '{"reason": "provider"}'
                    AND user_id = \(try #require(UserID(people[0].tokens.userID)).uuid)
                """
            )
            #expect(try #require(told.first).decode(0, as: Int64.self) == 2)
            #expect(bench.metric(#"vestibule_identity_provider_sign_outs_total{provider="apple"}"#) == "1")
            // They sign in again.
            try await bench.signIn("000.person", code: "back", refreshToken: "r0.back")
            #expect(try await bench.sessions(people[0].tokens.userID, nil) == 1)
        }
    }

    @Test func `A user who signed in again during the check of the old token stays signed in`() async throws {
        try await GrantBench.run { bench in
            let person = try await bench.keepTokens(1)[0]
            bench.bench.clock.advance(seconds: Self.aDay)
            let claimed = try await bench.store.claimChecks(
                .apple,
                "com.example.app",
                most: 10,
                nowMilliseconds: bench.now
            )
            bench.bench.clock.advance(seconds: 1)
            try await bench.signIn("000.person", code: "new", refreshToken: "new")
            try await eventually("the newer token") { try await bench.metricKept() == "2" }
            #expect(try await !bench.store.endRefused(claimed[0].place, nowMilliseconds: bench.now))
            #expect(try await bench.sessions(person.tokens.userID, nil) == 2)
        }
    }

    @Test func `A session that began after the check stays, although its token isn't stored yet`() async throws {
        try await GrantBench.run { bench in
            let person = try await bench.keepTokens(1)[0]
            bench.bench.clock.advance(seconds: Self.aDay)
            let claimed = try await bench.store.claimChecks(
                .apple,
                "com.example.app",
                most: 10,
                nowMilliseconds: bench.now
            )
            bench.bench.clock.advance(seconds: 1)
            bench.apple.setTrouble(503)
            try await bench.signIn("000.person", code: "new", refreshToken: "new")
            #expect(try await bench.store.endRefused(claimed[0].place, nowMilliseconds: bench.now))
            #expect(try await bench.sessions(person.tokens.userID, "provider") == 1)
            #expect(try await bench.sessions(person.tokens.userID, nil) == 1)
        }
    }

    @Test func `A wrong key signs nobody out, is reported, and stops the checks of all replicas`() async throws {
        try await GrantBench.run(replicas: 2) { bench in
            let people = try await bench.keepTokens(4)
            bench.bench.clock.advance(seconds: Self.aDay)
            bench.apple.setTrouble { request throws(OutgoingHTTPError) in
                let word = request.field("refresh_token") == "r1" ? "invalid_grant" : "invalid_client"
                return OutgoingResponse(status: 400, body: Array("{\"error\":\"\(word)\"}".utf8))
            }
            await bench.grants.checker.round()
            let asked = bench.bench.http.requests.count
            await bench.bench.replicas[1].grants.checker.round()
            #expect(bench.bench.http.requests.count == asked)
            for person in people { #expect(try await bench.sessions(person.tokens.userID, nil) == 1) }
            #expect(try await bench.rows("kept") == 4)
            for replica in [0, 1] {
                await bench.bench.replicas[replica].grants.look()
                let stopped =
                    #"vestibule_identity_provider_checks_stopped{provider="apple",client="com.example.app",reason="not_configured"}"#
                #expect(bench.metric(stopped, replica: replica) == "1")
            }
            #expect(bench.bench.log.text.contains("error checks of tokens are stopped, nobody is signed out"))
            // The next day, with the right key.
            bench.bench.clock.advance(seconds: Self.aDay)
            await bench.grants.look()
            let again =
                #"vestibule_identity_provider_checks_stopped{provider="apple",client="com.example.app",reason="not_configured"}"#
            #expect(bench.metric(again) == "0")
            bench.apple.setTrouble(nil)
            await bench.grants.checker.round()
            #expect(bench.apple.checked.count == 1, "a probe")
            await bench.grants.checker.round()
            #expect(bench.apple.checked.count == 4)
        }
    }

    @Test func `A provider that is down, or refuses too many tokens, signs nobody out`() async throws {
        try await GrantBench.run { bench in
            let people = try await bench.keepTokens(12)
            bench.bench.clock.advance(seconds: Self.aDay)
            bench.apple.refuse("r0")
            bench.apple.setTrouble { request throws(OutgoingHTTPError) in
                if request.field("refresh_token") == "r0" { return nil }
                throw OutgoingHTTPError(.connection("refused"), mayHaveBeenSent: false)
            }
            await bench.grants.checker.round()
            #expect(try await bench.sessions(people[0].tokens.userID, nil) == 1)
            // The next day it refuses five of twelve.
            bench.bench.clock.advance(seconds: Self.aDay)
            bench.apple.setTrouble(nil)
            for index in 1...4 { bench.apple.refuse("r\(index)") }
            await bench.grants.checker.round()
            if bench.apple.checked.last == "r0" || bench.apple.checked.count < 3 { await bench.grants.checker.round() }
            let ended = try await bench.ended(people)
            #expect(ended <= 1, "but for the probe, which is judged alone")
            #expect(try await bench.rows("kept") == 12 - ended)
        }
    }

    @Test func `A replica that is killed during a check skips its tokens for the day, and none is checked twice`()
        async throws
    {
        try await GrantBench.run(replicas: 2) { bench in
            _ = try await bench.keepTokens(3)
            bench.bench.clock.advance(seconds: Self.aDay)
            let claimed = try await bench.store.claimChecks(
                .apple,
                "com.example.app",
                most: 2,
                nowMilliseconds: bench.now
            )
            #expect(claimed.count == 2)
            // The killed replica still holds the app's checks; afterwards the other tokens are checked.
            await bench.bench.replicas[1].grants.checker.round()
            #expect(bench.apple.checked.isEmpty)
            try await bench.store.database.execute("UPDATE provider_checks SET held_until = clock_timestamp()")
            await bench.bench.replicas[1].grants.checker.round()
            #expect(bench.apple.checked.count == 1)
            bench.bench.clock.advance(seconds: Self.aDay)
            await bench.bench.replicas[1].grants.checker.round()
            #expect(bench.apple.checked.count == 4)
        }
    }

    @Test func `If a replica is killed before it acts on a refusal, the next day's check finds it again`()
        async throws
    {
        try await GrantBench.run { bench in
            let person = try await bench.keepTokens(1)[0]
            bench.apple.refuse("r0")
            bench.bench.clock.advance(seconds: Self.aDay)
            let claimed = try await bench.store.claimChecks(
                .apple,
                "com.example.app",
                most: 2,
                nowMilliseconds: bench.now
            )
            let verdict = try await bench.store.finishChecks(
                .apple,
                "com.example.app",
                [.refused],
                refusedPercentMax: 5,
                nowMilliseconds: bench.now
            )
            #expect(claimed.count == 1 && verdict.mayEnd)
            #expect(try await bench.sessions(person.tokens.userID, nil) == 1)
            bench.bench.clock.advance(seconds: Self.aDay)
            await bench.grants.checker.round()
            #expect(try await bench.sessions(person.tokens.userID, "provider") == 1)
        }
    }
}

extension GrantBench {
    /// The number of tokens stored so far.
    func metricKept() async throws -> String? {
        metric(#"vestibule_identity_provider_tokens_total{provider="apple",outcome="kept"}"#)
    }

    /// The number of these people who were signed out.
    func ended(_ people: [IdentityV1.SignInResponse]) async throws -> Int {
        var count = 0
        for person in people where try await sessions(person.tokens.userID, nil) == 0 { count += 1 }
        return count
    }
}
