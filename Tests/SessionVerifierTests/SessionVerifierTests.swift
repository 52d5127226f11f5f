import API
import JOSE
import RPC
import Synchronization
import TestWaits
import Testing

@testable import SessionVerifier

@Suite(.timeLimit(.minutes(5)))
struct SessionVerifierTests {
    private let identity: FakeIdentity
    private let first = FakeIdentity.session(1)
    private let second = FakeIdentity.session(2)

    init() throws { identity = try FakeIdentity() }

    private var asked: Int { identity.state.withLock { $0.asked } }

    /// Sends the end of the backlog on the stream, and waits until it has arrived.
    private func catchUp(_ verifier: SessionVerifier, stream: Int = 1, ended: [String] = []) async throws {
        await identity.stream(number: stream)
        identity.tell(ended, isFirst: true)
        try await eventually { verifier.statistics.isCurrent }
    }

    @Test func `While the stream is current identity isn't asked, and an ended session is rejected at once`()
        async throws
    {
        let verifier = identity.verifier()
        try await running(verifier) { () async throws in
            try await catchUp(verifier)
            let token = try identity.token(session: first)
            let session = try await verifier.verify(token)
            #expect(session.sessionID == first)
            #expect(!session.wasAsked)
            identity.tell([first])
            try await eventually { verifier.statistics.endedSessions == 1 }
            #expect(await refusal(verifier, token) == "ended")
            #expect(try await !verifier.verify(identity.token(session: second)).wasAsked)
            #expect(asked == 0)
        }
    }

    @Test func `A guest's token says so`() async throws {
        let verifier = identity.verifier()
        try await running(verifier) { () async throws in
            try await catchUp(verifier)
            let guest = try identity.token(session: first, changes: ["acr": "urn:vestibule:acr:guest"])
            #expect(try await verifier.verify(guest).isGuest)
            #expect(try await verifier.verify(guest).isGuest)
            #expect(try await !verifier.verify(identity.token(session: second)).isGuest)
        }
    }

    @Test func `A token that is bound to a key is no bearer token`() async throws {
        let verifier = identity.verifier()
        try await running(verifier) { () async throws in
            try await catchUp(verifier)
            for confirmation in [.object(["jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"]), .null] as [JSONValue]
            {
                let bound = try identity.token(session: first, changes: ["cnf": confirmation])
                await #expect(throws: SessionRefusal.self) { try await verifier.verify(bound) }
            }
        }
    }

    /// Texts with a look-alike letter are the same `String` by Unicode, but no signature is valid for both.
    @Test func `A cached token in another spelling is rejected`() async throws {
        let verifier = identity.verifier()
        try await running(verifier) { () async throws in
            try await catchUp(verifier)
            var token = try identity.token(session: first)
            while !token.contains("K") { token = try identity.token(session: first) }
            _ = try await verifier.verify(token)
            let other = token.replacing("K", with: "\u{212A}")
            #expect(other == token)
            #expect(await refusal(verifier, other) == "invalid")
        }
    }

    @Test func `Before the stream is current, and without a stream, identity is asked for each call`() async throws {
        let verifier = identity.verifier()
        let token = try identity.token(session: first)
        #expect(try await verifier.verify(token).wasAsked)
        try await running(verifier) { () async throws in
            await identity.stream(number: 1)
            identity.tell([second], isFirst: true, isCaughtUp: false)
            try await eventually { verifier.statistics.endedSessions == 1 }
            #expect(try await verifier.verify(token).wasAsked)
            #expect(try await verifier.verify(token).wasAsked)
            // A session that is known to have ended needs no call.
            #expect(await refusal(verifier, try identity.token(session: second)) == "ended")
            #expect(asked == 3)
            identity.state.withLock { _ = $0.ended.insert(first) }
            #expect(await refusal(verifier, token) == "ended")
        }
    }

    @Test func `A broken stream is opened again at its position, and calls don't wait`() async throws {
        let verifier = identity.verifier { $0.reconnectWait = .milliseconds(1) }
        try await running(verifier) { () async throws in
            try await catchUp(verifier)
            let token = try identity.token(session: first)
            #expect(try await !verifier.verify(token).wasAsked)
            identity.cut()
            // The next stream is open and has sent nothing yet.
            await identity.stream(number: 2)
            #expect(identity.state.withLock { $0.positions } == [[], [1]])
            #expect(try await verifier.verify(token).wasAsked)
            identity.tell([second], position: 2)
            try await eventually { verifier.statistics.isCurrent }
            #expect(try await !verifier.verify(token).wasAsked)
            #expect(await refusal(verifier, try identity.token(session: second)) == "ended")
        }
    }

    @Test func `A silent stream doesn't count as current, and is opened again`() async throws {
        let verifier = identity.verifier()
        try await running(verifier) { () async throws in
            await identity.stream(number: 1)
            identity.tell(isFirst: true) { $0.heartbeatMilliseconds = 100 }
            try await eventually { verifier.statistics.isCurrent }
            try await eventually { !verifier.statistics.isCurrent }
            #expect(try await verifier.verify(identity.token(session: first)).wasAsked)
            await identity.stream(number: 2)
        }
    }

    @Test func `Messages that arrive late don't make it current`() async throws {
        let verifier = identity.verifier()
        try await running(verifier) { () async throws in
            await identity.stream(number: 1)
            identity.tell([second], isFirst: true, ageMilliseconds: 300_000)
            try await eventually { verifier.statistics.endedSessions == 1 }
            #expect(!verifier.statistics.isCurrent)
            #expect(try await verifier.verify(identity.token(session: first)).wasAsked)
            identity.tell(ageMilliseconds: 4_000)
            try await eventually { verifier.statistics.isCurrent }
        }
    }

    @Test func `A reset drops known ends, and identity is asked until the stream is current again`() async throws {
        let verifier = identity.verifier()
        try await running(verifier) { () async throws in
            try await catchUp(verifier, ended: [first])
            let token = try identity.token(session: first)
            #expect(await refusal(verifier, token) == "ended")
            identity.tell(isFirst: true, isCaughtUp: false)
            try await eventually { verifier.statistics.endedSessions == 0 }
            // The database lost the end, and the database counts.
            #expect(try await verifier.verify(token).wasAsked)
            identity.tell([second])
            try await eventually { verifier.statistics.isCurrent }
            #expect(try await !verifier.verify(token).wasAsked)
        }
    }

    @Test func `Sessions from before the end of all are rejected, and for those of the same second identity is asked`()
        async throws
    {
        let verifier = identity.verifier()
        try await running(verifier) { () async throws in
            await identity.stream(number: 1)
            identity.tell(isFirst: true) { $0.sessionsFromMilliseconds = 1_799_999_900_500 }
            try await eventually { verifier.statistics.isCurrent }
            func token(_ seconds: Int64) throws -> String {
                try identity.token(session: first, changes: ["auth_time": .integer(1_799_999_900 + seconds)])
            }
            #expect(await refusal(verifier, try token(-1)) == "ended")
            #expect(try await verifier.verify(token(0)).wasAsked)
            #expect(try await !verifier.verify(token(1)).wasAsked)
        }
    }

    @Test func `With more ended sessions than it can store identity is asked, and none is accepted`() async throws {
        let verifier = identity.verifier { $0.endedSessionsMax = 2 }
        try await running(verifier) { () async throws in
            try await catchUp(verifier, ended: [first, second])
            #expect(try await !verifier.verify(identity.token(session: FakeIdentity.session(3))).wasAsked)
            identity.tell([FakeIdentity.session(3)])
            try await eventually { !verifier.statistics.isCurrent }
            identity.state.withLock { _ = $0.ended.insert(FakeIdentity.session(3)) }
            #expect(await refusal(verifier, try identity.token(session: FakeIdentity.session(3))) == "ended")
            #expect(await refusal(verifier, try identity.token(session: first)) == "ended")
        }
    }

    @Test func `Only valid access tokens of the issuer, for the audience and by its keys are accepted`() async throws {
        let verifier = identity.verifier()
        try await running(verifier) { () async throws in
            try await catchUp(verifier)
            let stranger = try SigningKey.generateP256()
            let good = try identity.token(session: first)
            #expect(await refusal(verifier, good) == nil)
            let bad = [
                try identity.token(session: first, type: "JWT"), try identity.token(session: first, key: stranger),
                try identity.token(session: first, changes: ["iss": "https://other.example.com"]),
                try identity.token(session: first, changes: ["aud": "other"]), try identity.token(session: "none"),
                String(good.dropLast(8)) + "AAAAAAAA", "", "a.b.c",
            ]
            for token in bad { #expect(await refusal(verifier, token) == "invalid") }
            identity.nowMilliseconds.add(600_000, ordering: .relaxed)
            #expect(await refusal(verifier, good) == "expired")
            #expect(asked == 0)
        }
    }

    @Test func `If identity must be asked and doesn't answer, calls are rejected`() async throws {
        let verifier = identity.verifier()
        let token = try identity.token(session: first)
        #expect(try await verifier.verify(token).wasAsked)
        identity.state.withLock { $0.isAnswering = false }
        #expect(await refusal(verifier, token) == "unavailable")
    }

    @Test func `A new key is fetched when a token names it, but not for each forged one`() async throws {
        let verifier = identity.verifier { $0.keySetCooldown = .milliseconds(300) }
        try await running(verifier) { () async throws in
            try await catchUp(verifier)
            #expect(await refusal(verifier, try identity.token(session: first)) == nil)
            let fetches = identity.state.withLock { $0.keySetFetches }
            let next = try SigningKey.generateP256()
            for _ in 0..<50 {
                #expect(await refusal(verifier, try identity.token(session: first, key: next)) == "invalid")
            }
            #expect(identity.state.withLock { $0.keySetFetches } <= fetches + 1)
            identity.state.withLock { $0.keys.append(next) }
            try await Task.sleep(for: .milliseconds(310))
            #expect(await refusal(verifier, try identity.token(session: first, key: next)) == nil)
        }
    }

    @Test func `Tokens verified by a withdrawn key are verified again`() async throws {
        let verifier = identity.verifier { $0.keySetCooldown = .zero }
        try await running(verifier) { () async throws in
            try await catchUp(verifier)
            let token = try identity.token(session: first)
            #expect(await refusal(verifier, token) == nil)
            let next = try SigningKey.generateP256()
            identity.state.withLock { $0.keys = [next] }
            #expect(await refusal(verifier, try identity.token(session: second, key: next)) == nil)
            #expect(await refusal(verifier, token) == "invalid")
        }
    }
}
