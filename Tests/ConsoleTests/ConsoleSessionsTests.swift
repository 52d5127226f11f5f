import Testing

@testable import Console

/// Sessions of browsers, and sign-ins that have begun.
struct ConsoleSessionsTests {
    private let sessions = ConsoleSessions(limits: ConsoleSessions.Limits(lifetimeSeconds: 1000, idleSeconds: 100))

    private func name(_ token: String, at now: Int64, isByOperator: Bool = true) -> String? {
        sessions.use(token, now: .at(now), isByOperator: isByOperator)?.name
    }

    @Test func `A session lasts while it is used, and no longer than its lifetime`() {
        let token = sessions.begin("ana", .certificate, now: .at(0))
        for now in stride(from: Int64(99), to: 1000, by: 99) { #expect(name(token, at: now) == "ana", "\(now)") }
        #expect(name(token, at: 1000) == nil && name(token, at: 999) == nil, "it is gone")
        let idle = sessions.begin("ana", .certificate, now: .at(0))
        #expect(name(idle, at: 50, isByOperator: false) == "ana")
        #expect(name(idle, at: 100) == nil, "a page that asks by itself is no use")
    }

    @Test func `A clock that is set back, or that stands still, lengthens no session`() {
        let times: [(ConsoleTime, Bool)] = [
            (ConsoleTime(wallSeconds: -5000, runSeconds: 99), true),
            (ConsoleTime(wallSeconds: -5000, runSeconds: 100), false),
            (ConsoleTime(wallSeconds: 100, runSeconds: 1), false),
        ]
        for (time, isAlive) in times {
            let token = sessions.begin("ana", .certificate, now: .at(0))
            #expect((sessions.use(token, now: time, isByOperator: true) != nil) == isAlive, "\(time)")
        }
        let token = sessions.begin("ana", .certificate, now: .at(0))
        for run in stride(from: Int64(99), to: 1000, by: 99) {
            #expect(
                sessions.use(token, now: ConsoleTime(wallSeconds: -run, runSeconds: run), isByOperator: true) != nil
            )
        }
        #expect(sessions.use(token, now: ConsoleTime(wallSeconds: -9, runSeconds: 1000), isByOperator: true) == nil)
    }

    @Test func `A session ends at once, and no other token opens it`() {
        let token = sessions.begin("ana", .certificate, now: .at(0))
        for other in ["", "x", String(token.dropLast()), token + "A"] { #expect(name(other, at: 1) == nil) }
        sessions.end(token)
        #expect(name(token, at: 1) == nil)
    }

    @Test func `Of too many the one used longest ago makes room`() {
        let tokens = (0...ConsoleSessions.countMax).map { number in
            sessions.begin("n\(number)", .certificate, now: .at(Int64(number / 100)))
        }
        let alive = tokens.filter { name($0, at: 3, isByOperator: false) != nil }
        #expect(alive.count == ConsoleSessions.countMax && alive.contains(tokens[ConsoleSessions.countMax]))
    }

    @Test func `An operator's many sessions end none of another's`() {
        let ana = sessions.begin("ana", .certificate, now: .at(0))
        let tokens = (0..<300).map { _ in sessions.begin("ben", .certificate, now: .at(1)) }
        #expect(name(ana, at: 2) == "ana")
        let alive = tokens.filter { name($0, at: 2, isByOperator: false) != nil }
        #expect(alive.count == ConsoleSessions.countOfOneMax && alive.contains(tokens[299]))
    }

    @Test func `An attempt is used once, and so many are remembered`() {
        let used = UsedAttempts()
        #expect(used.use("a", now: .at(0)) && !used.use("a", now: .at(600)))
        for number in 1..<UsedAttempts.countMax { #expect(used.use("\(number)", now: .at(1))) }
        #expect(used.use("b", now: .at(2)), "nobody is kept out")
        #expect(!used.use("b", now: .at(2)) && !used.use("1", now: .at(2)))
        #expect(used.use("a", now: .at(2)), "the oldest is forgotten")
    }

    @Test func `An operator searches thirty times a minute`() {
        let limit = SearchLimit()
        for _ in 0..<SearchLimit.countMax { #expect(limit.take("ana", now: .at(0))) }
        #expect(!limit.take("ana", now: .at(59)) && limit.take("ben", now: .at(59)))
        #expect(limit.take("ana", now: .at(60)))
    }

    @Test func `An attempt is read back from its own cookie alone, for ten minutes`() throws {
        let key = [UInt8](repeating: 1, count: 32)
        let goal = try #require(ConsolePath("/accounts/0190163d-8694-739b-aea5-966c26f8ad90"))
        let attempt = SignInAttempt(goal: goal, now: .at(1_000))
        let cookie = attempt.cookie(key: key)
        #expect(SignInAttempt(cookie: cookie, key: key, now: .at(1_600)) == attempt)
        #expect(SignInAttempt(cookie: cookie, key: key, now: .at(1_601)) == nil)
        #expect(SignInAttempt(cookie: cookie, key: key, now: .at(999)) == nil)
        #expect(SignInAttempt(cookie: cookie, key: [UInt8](repeating: 2, count: 32), now: .at(1_000)) == nil)
        for index in cookie.indices {
            var changed = cookie
            changed.replaceSubrange(index...index, with: cookie[index] == "A" ? "B" : "A")
            #expect(SignInAttempt(cookie: changed, key: key, now: .at(1_000)) == nil, "\(changed)")
        }
        let other = SignInAttempt(goal: .accounts, now: .at(1_000))
        #expect(other.state != attempt.state && other.nonce != attempt.nonce && other.verifier != attempt.verifier)
    }

    @Test(arguments: [
        "", "accounts", "//evil.example", "/a//b", "https://evil.example", "/\\evil.example", "/a?b", "/a#b", "/a\nb",
        "/a%2f",
        "/A", "/a b", "/é", "/sign-in/begin", "/sign-in",
    ])
    func `No path leads elsewhere`(text: String) { #expect(ConsolePath(text) == nil) }
}
