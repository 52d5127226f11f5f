import Testing

@testable import SessionVerifier

struct EndedSessionsTests {
    private let start = ContinuousClock.now

    private func key(_ number: Int) throws -> SessionKey { try #require(SessionKey(FakeIdentity.session(number))) }

    @Test func `A session is kept for as long as its tokens are believed, and not for twice that`() throws {
        var ended = EndedSessions(countMax: 10, now: start)
        ended.believe(for: .seconds(7_200))
        func at(_ seconds: Int64) -> ContinuousClock.Instant { start + .seconds(seconds) }
        ended.insert(try key(1), now: at(7_000))
        ended.turn(now: at(7_200))
        ended.insert(try key(2), now: at(7_300))
        ended.turn(now: at(14_200))
        #expect(ended.count == 2)
        ended.turn(now: at(14_400))
        #expect(ended.count == 1)
        ended.turn(now: at(21_600))
        #expect(ended.count == 0)
    }

    @Test func `A session without room makes it incomplete for as long as that matters`() throws {
        var ended = EndedSessions(countMax: 1, now: start)
        ended.insert(try key(1), now: start)
        ended.insert(try key(1), now: start)
        #expect(ended.isComplete)
        ended.insert(try key(2), now: start)
        #expect(!ended.isComplete)
        ended.turn(now: start + .seconds(3_599))
        #expect(!ended.isComplete)
        ended.turn(now: start + .seconds(3_600))
        #expect(ended.isComplete)
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max], [Int64.min, 1, .max])
    func `A time of any size is compared without a trap`(begunAt: Int64, from: Int64) throws {
        var ended = EndedSessions(countMax: 1, now: start)
        ended.sessionsFromMilliseconds = from
        let session = FakeIdentity.session(1)
        let payload = #"{"iss":"i","aud":"a","sub":"u","sid":"\#(session)","exp":1,"auth_time":\#(begunAt)}"#
        let claims = try #require(TokenClaims(Array(payload.utf8), issuer: "i", audience: "a"))
        let isBefore = from > 0 && begunAt < from / 1000
        #expect(ended.hasEnded(claims) == (isBefore ? true : from <= 0 || begunAt >= 1 ? false : nil))
    }

    @Test func `A session's id is a UUID in either case, and nothing else`() {
        #expect(
            SessionKey("0190C2A5-7f00-7000-8000-00000000000a") == SessionKey("0190c2a5-7F00-7000-8000-00000000000A")
        )
        for bad in [
            "", "0190c2a5", "0190c2a5-7f00-7000-8000-00000000000", "0190c2a5-7f00-7000-8000-00000000000aa",
            "0190c2a5-7f00-7000-8000-0000000000g0", "0190c2a5-7f00-7000-80000-0000000000a",
        ] {
            #expect(SessionKey(bad) == nil)
        }
    }
}
