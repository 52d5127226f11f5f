import API
import RPCTransport
import ServiceKit
import SwiftProtobuf
import Testing

@testable import GatewayService

struct SessionAnswersTests {
    private static let response = IdentityV1.CheckSessionResponse.with {
        ($0.userID, $0.sessionID, $0.goodForMilliseconds) = ("u", "s", 60_000)
    }

    /// Runs a test on a loop of two, with answers that hear in time which sessions end.
    private func run(
        outageGrace: Duration = .zero,
        _ body: @escaping @Sendable (SessionAnswers, EventLoopGroup) async throws -> Void
    ) async throws {
        let group = try EventLoopGroup(loopCount: 2, name: "test")
        let answers = SessionAnswers(changes: SessionChanges(), group: group, outageGrace: outageGrace)
        // Hours before it is too old: nothing here waits.
        answers.heard(at: .now + .seconds(36_000), age: .zero)
        let result = await Task(executorPreference: group.loops[0]) { try await body(answers, group) }.result
        await group.shutdown()
        try result.get()
    }

    @Test func `An answer is used again on its loop, and asked for on others`() async throws {
        try await run { answers, group in
            #expect(answers.answer(to: "t") == nil)
            answers.keep(Self.response, to: "t", answers.ask())
            #expect(answers.answer(to: "t") == Self.response)
            #expect(answers.answer(to: "t2") == nil)
            let other = await Task(executorPreference: group.loops[1]) { answers.answer(to: "t") }.value
            #expect(other == nil)
            var text = MetricsText()
            answers.write(to: &text)
            #expect(text.text.contains(#"vestibule_gateway_session_checks_total{by="answer"} 1"#))
            #expect(text.text.contains(#"vestibule_gateway_session_checks_total{by="identity"} 1"#))
            #expect(text.text.contains("vestibule_gateway_session_news_current 1"))
        }
    }

    @Test func `Off the loops nothing is kept`() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "test")
        let answers = SessionAnswers(changes: SessionChanges(), group: group)
        answers.heard(at: .now + .seconds(36_000), age: .zero)
        answers.keep(Self.response, to: "t", answers.ask())
        #expect(answers.answer(to: "t") == nil)
        await group.shutdown()
    }

    @Test(arguments: [0, -1, Int64.min]) func `What identity wants to be asked about each time is not kept`(
        _ good: Int64
    ) async throws {
        try await run { answers, _ in
            var response = Self.response
            response.goodForMilliseconds = good
            answers.keep(response, to: "t", answers.ask())
            #expect(answers.answer(to: "t") == nil)
        }
    }

    @Test(arguments: [1, Int64.max]) func `An answer is used for as long as identity says, and a minute at most`(
        _ good: Int64
    ) async throws {
        try await run { answers, _ in
            var response = Self.response
            response.goodForMilliseconds = good
            let asking = answers.ask()
            answers.keep(response, to: "t", asking)
            try await Task.sleep(for: .milliseconds(2))
            #expect((answers.answer(to: "t") == nil) == (good == 1))
        }
    }

    @Test func `Without young news identity is asked, and later the answer is good again`() async throws {
        try await run { answers, _ in
            answers.keep(Self.response, to: "t", answers.ask())
            for age: Duration in [SessionAnswers.newsAgeMax, .seconds(3_600)] {
                answers.heard(at: .now, age: age)
                #expect(answers.answer(to: "t") == nil)
            }
            answers.heard(at: .now - SessionAnswers.newsAgeMax, age: .zero)
            #expect(answers.answer(to: "t") == nil)
            answers.heard(at: .now + .seconds(3_600), age: .zero)
            #expect(answers.answer(to: "t") != nil)
        }
    }

    @Test func `What ends while identity answers is seen, whichever comes first`() async throws {
        try await run { answers, _ in
            let asking = answers.ask()
            answers.changes.note(sessions: ["s"])
            answers.keep(Self.response, to: "t", asking)
            #expect(answers.answer(to: "t") == nil)
            // Asked after it, identity knows.
            answers.keep(Self.response, to: "t", answers.ask())
            #expect(answers.answer(to: "t") != nil)
            answers.changes.note(users: ["another"])
            #expect(answers.answer(to: "t") != nil)
            answers.changes.note(users: ["u"])
            #expect(answers.answer(to: "t") == nil)
        }
    }

    @Test func `In an outage an answer is used for the grace, whichever loop has it`() async throws {
        try await run(outageGrace: .seconds(30)) { answers, group in
            var response = Self.response
            response.expiresAtSeconds = 1_000
            let kept = response
            await Task(executorPreference: group.loops[1]) { answers.keep(kept, to: "t", answers.ask()) }.value
            func outage(_ age: Duration, nowSeconds: Int64 = 999, _ token: String = "t") async -> OutageAnswer? {
                answers.heard(at: .now, age: SessionAnswers.newsAgeMax + age)
                return await answers.answerInOutage(to: token, nowSeconds: nowSeconds)
            }
            answers.heard(at: .now + .seconds(3_600), age: .zero)
            let none = await answers.answerInOutage(to: "t", nowSeconds: 999)
            #expect(none == nil, "there is no outage")
            let found = await outage(.seconds(3))
            let answer = try #require(found)
            #expect(answer.response == kept && answer.age >= .seconds(3) && (Int(answer.seconds) ?? 0) >= 4)
            for refused in [
                await outage(.seconds(31)), await outage(.seconds(3), nowSeconds: 1_000),
                await outage(.seconds(3), "t2"),
            ] {
                #expect(refused == nil, "the grace is over, the token has expired, or is another one")
            }
            answers.changes.note(sessions: ["s"])
            let ended = await outage(.seconds(3))
            #expect(ended == nil, "the session has ended")
        }
    }

    @Test func `Without grace no answer is used in an outage`() async throws {
        try await run { answers, _ in
            var response = Self.response
            response.expiresAtSeconds = 1_000
            answers.keep(response, to: "t", answers.ask())
            answers.heard(at: .now, age: .seconds(1))
            let none = await answers.answerInOutage(to: "t", nowSeconds: 0)
            #expect(none == nil)
        }
    }

    @Test func `An answer is kept only if it is by what the stream's server judges by`() async throws {
        try await run { answers, _ in
            func keeps(_ keysID: [UInt8], _ sessionsFrom: Int64) -> Bool {
                var response = Self.response
                (response.keysID, response.sessionsFromMilliseconds) = (.init(keysID), sessionsFrom)
                answers.keep(response, to: "t", answers.ask())
                defer { answers.changes.noteAll() }
                return answers.answer(to: "t") != nil
            }
            answers.judge(by: [1], sessionsFromMilliseconds: 10)
            #expect(keeps([1], 10) && keeps([1], 11))
            #expect(!keeps([1], 9), "by a server that doesn't know of the end of all sessions yet")
            #expect(!keeps([2], 10) && !keeps([], 10), "by a server that has other keys")
            answers.judge(by: [], sessionsFromMilliseconds: nil)
            #expect(keeps([1], 10))
            answers.judge(by: [], sessionsFromMilliseconds: 12)
            #expect(!keeps([1], 11) && keeps([1], 12))
        }
    }

    @Test func `All answers are dropped when keys or the time of all sessions change`() async throws {
        try await run { answers, _ in
            answers.judge(by: [1], sessionsFromMilliseconds: 10)
            var response = Self.response
            (response.keysID, response.sessionsFromMilliseconds) = (.init([1]), 20)
            let kept = response
            for change: (keysID: [UInt8], from: Int64?, drops: Bool) in [
                ([], nil, false), ([1], 10, false), ([], 11, true), ([2], nil, true),
            ] {
                answers.judge(by: [1], sessionsFromMilliseconds: 10)
                answers.keep(kept, to: "t", answers.ask())
                answers.judge(by: change.keysID, sessionsFromMilliseconds: change.from)
                #expect((answers.answer(to: "t") == nil) == change.drops)
            }
        }
    }

    @Test func `A token that comes once takes no place`() async throws {
        try await run { answers, _ in
            answers.keep(Self.response, to: "t", isForOnce: true, answers.ask())
            #expect(answers.answer(to: "t") == nil)
        }
    }

    @Test func `Only the same token has the answer`() async throws {
        try await run { answers, _ in
            let token = String(repeating: "a", count: 300) + ".payload.signature"
            answers.keep(Self.response, to: token, answers.ask())
            for other in [
                String(token.dropLast()), token + "x", "b" + token.dropFirst(), String(token.dropLast()) + "f",
            ] {
                #expect(answers.answer(to: other) == nil)
            }
            #expect(answers.answer(to: token) != nil)
        }
    }
}
