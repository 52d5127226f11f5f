import Foundation
import Testing

@testable import VestibuleClient

/// A store of which one read can be held up.
private actor SlowStore: SessionStore {
    private let memory = MemoryStore()
    private let gate = Flight<Void>()
    private var holdsNext = false
    private(set) var isHolding = false

    func holdNext() { holdsNext = true }

    func release() { gate.finish(.success(())) }

    func read(_ key: String) async throws -> Data? {
        let value = await memory.read(key)
        if holdsNext {
            (holdsNext, isHolding) = (false, true)
            try await gate.value()
        }
        return value
    }

    func write(_ value: Data, _ key: String) async throws { await memory.write(value, key) }

    func remove(_ key: String) async throws { await memory.remove(key) }

    nonisolated func withLock<Result: Sendable>(
        _ key: String,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await memory.withLock(key, body)
    }
}

/// A server that a closure is.
private struct ScriptedTransport: HTTPTransport {
    typealias Answer = (status: Int, body: String)

    let answer: @Sendable (HTTPRequest) async throws -> Answer

    func stream(_ request: HTTPRequest) async throws -> HTTPStream {
        let (status, body) = try await answer(request)
        let (pieces, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        continuation.yield(Data(body.utf8))
        continuation.finish()
        return HTTPStream(status: status, headers: [:], pieces: pieces) {}
    }

    func close() {}

    static let none = ScriptedTransport { _ in
        throw HTTPFailure(wasNotSent: true, isTimeout: false, message: "There is none.")
    }
}

struct SessionKeeperTests {
    private static let session = SessionRecord.Session(
        accessToken: "at",
        refreshToken: "rt",
        userID: "u",
        sessionID: "s",
        lifetimeSeconds: 600,
        receivedAt: Int64(Date().timeIntervalSince1970 * 1000)
    )

    private static var other: SessionRecord.Session {
        var other = session
        (other.refreshToken, other.sessionID, other.userID) = ("other", "t", "v")
        return other
    }

    private static func client(
        _ store: any SessionStore,
        clientID: String? = nil,
        _ transport: ScriptedTransport = .none,
        _ clock: TokenClock = .system()
    ) throws -> Vestibule {
        Vestibule(
            url: try #require(URL(string: "http://127.0.0.1:1")),
            clientID: clientID,
            store: store,
            deadline: .seconds(10),
            transport: transport,
            clock: clock,
            delayFactor: 0.001
        )
    }

    private static func until(_ condition: () async throws -> Bool) async throws {
        for _ in 0..<500 {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("It did not come.")
    }

    @Test func `A read that began before a write is not announced after it`() async throws {
        let store = SlowStore()
        let vestibule = try Self.client(store)
        var states = vestibule.states.makeAsyncIterator()
        #expect(await states.next() == .signedOut(reason: nil))
        await store.holdNext()
        async let late = vestibule.state
        try await Self.until { await store.isHolding }
        try await vestibule.keeper.begin(Self.session)
        await store.release()
        #expect(try await late == .signedIn(userID: "u"))
        try await vestibule.keeper.begin(Self.other)
        // Not signed out in between.
        #expect(await states.next() == .signedIn(userID: "u"))
        #expect(await states.next() == .signedIn(userID: "v"))
    }

    @Test func `A reason is kept until the app asks for what follows it`() async throws {
        let store = MemoryStore()
        let vestibule = try Self.client(store)
        var record = SessionRecord()
        record.ended = .sessionRevoked
        await store.write(record.serialized, ServerURL.key(vestibule.url))
        func kept() async throws -> VestibuleError.Code? {
            try await store.read(ServerURL.key(vestibule.url)).map { try SessionRecord(parsing: $0) }?.ended
        }
        do {
            var killed = vestibule.states.makeAsyncIterator()
            #expect(await killed.next() == .signedOut(reason: .sessionRevoked))
        }
        try await Task.sleep(for: .milliseconds(50))
        #expect(try await kept() == .sessionRevoked)
        let states = try Self.client(store).states
        let reader = Task {
            var found: [SessionState] = []
            for await state in states { found.append(state) }
            return found
        }
        try await Self.until { try await kept() == nil }
        reader.cancel()
        #expect(await reader.value == [.signedOut(reason: .sessionRevoked)])
    }

    @Test func `A sign-out whose lock another one has comes true later`() async throws {
        let store = MemoryStore()
        let vestibule = try Self.client(store)
        try await vestibule.keeper.begin(Self.session)
        let gate = Flight<Void>()
        let holder = Task { try await store.withLock(ServerURL.key(vestibule.url)) { try await gate.value() } }
        try await Task.sleep(for: .milliseconds(20))
        let error = await #expect(throws: VestibuleError.self) {
            try await vestibule.signOut(deadline: .milliseconds(50))
        }
        #expect(error?.code == .timeout)
        let cancelled = Task { try await vestibule.signOut() }
        try await Task.sleep(for: .milliseconds(20))
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(try await vestibule.state == .signedIn(userID: "u"))
        gate.finish(.success(()))
        try await holder.value
        try await Self.until { try await vestibule.state == .signedOut(reason: nil) }
    }

    @Test func `A record of a newer version stays as it is`() async throws {
        let store = MemoryStore()
        let vestibule = try Self.client(store, clientID: "demo")
        let text = Data(#"{"version":2,"another":"form"}"#.utf8)
        await store.write(text, ServerURL.key(vestibule.url))
        for body in [
            { _ = try await vestibule.state }, { _ = try await vestibule.accessToken() },
            { try await vestibule.signOut() },
            { _ = try await vestibule.beginSignIn(redirectURI: "a:/b") },
            { try await vestibule.keeper.begin(Self.session) },
        ] as [@Sendable () async throws -> Void] {
            let error = await #expect(throws: VestibuleError.self) { try await body() }
            #expect(error?.code == .storeFailed)
        }
        #expect(await store.read(ServerURL.key(vestibule.url)) == text)
    }

    @Test func `The page gets parameters of the app, but the kit's own`() async throws {
        let vestibule = try Self.client(MemoryStore(), clientID: "demo")
        let page = try await vestibule.beginSignIn(
            redirectURI: "com.example.app:/callback",
            provider: "apple",
            parameters: ["prompt": "select_account", "state": "forged"]
        )
        let items = try #require(URLComponents(url: page, resolvingAgainstBaseURL: false)?.queryItems)
        func values(_ name: String) -> [String?] { items.filter { $0.name == name }.map(\.value) }
        #expect(values("prompt") == ["select_account"] && values("idp") == ["apple"])
        #expect(values("state").count == 1 && values("state") != ["forged"])
    }

    private static func tokens(_ number: Int) -> String {
        #"{"tokens":{"accessToken":"a\#(number)","refreshToken":"r\#(number)","expiresInSeconds":600,"userId":"u","sessionId":"s"}}"#
    }

    @Test func `A backend that refuses a token gets another one`() async throws {
        let count = Box(0)
        let vestibule = try Self.client(
            MemoryStore(),
            ScriptedTransport { _ in
                count.value += 1
                return (200, Self.tokens(count.value))
            }
        )
        try await vestibule.keeper.begin(Self.session)
        #expect(try await vestibule.accessToken() == "at")
        #expect(try await vestibule.accessToken(insteadOf: "an older one") == "at")
        #expect(try await vestibule.accessToken(insteadOf: "at") == "a1")
        #expect(try await vestibule.accessToken(insteadOf: "at") == "a1")
        #expect(try await vestibule.refresh() == "a2")
        #expect(count.value == 2)
    }

    @Test func `A refresh that hangs lets another one have the lock between its tries`() async throws {
        let store = MemoryStore()
        let count = Box(0)
        let transport = ScriptedTransport { _ in
            count.value += 1
            if count.value == 1 { try await Task.sleep(for: .seconds(60)) }
            return (200, Self.tokens(1))
        }
        let clock = TokenClock.system()
        let wire = Wire(url: try #require(URL(string: "http://127.0.0.1:1")), transport: transport, languages: "")
        var policy = RetryPolicy()
        (policy.refreshTryMax, policy.firstPause) = (.milliseconds(50), .zero)
        let keeper = SessionKeeper(
            store: store,
            key: "a",
            server: SessionServer(wire: wire, retries: Retries(policy: policy), clock: clock),
            clock: clock,
            refreshDeadline: .seconds(30)
        )
        try await keeper.begin(Self.session)
        async let refreshed = keeper.refreshedSession()
        try await Self.until { count.value == 1 }
        let triesBefore = try await store.withLock("a") { count.value }
        #expect(triesBefore == 1)
        #expect(try await refreshed.accessToken == "a1")
    }

    /// Begins a sign-in by the page, and finishes it with the page's answer.
    private static func finish(
        _ vestibule: Vestibule,
        _ nonce: Box<String>
    ) async throws -> Task<String, any Error> {
        let page = try await vestibule.beginSignIn(redirectURI: "com.example.app:/callback")
        let items = try #require(URLComponents(url: page, resolvingAgainstBaseURL: false)?.queryItems)
        func value(_ name: String) -> String { items.first { $0.name == name }?.value ?? "" }
        nonce.value = value("nonce")
        let query = "code=c&state=\(value("state"))&iss=http%3A%2F%2F127.0.0.1%3A1"
        let callback = try #require(URL(string: "com.example.app:/callback?\(query)"))
        return Task { try await vestibule.finishSignIn(callback: callback) }
    }

    private static func granted(_ nonce: String, audience: String) -> String {
        let claims = #"{"iss":"http://127.0.0.1:1","aud":"\#(audience)","sub":"u","sid":"s","nonce":"\#(nonce)"}"#
        let token = "e30.\(Data(claims.utf8).base64URL).x"
        return #"{"access_token":"a","refresh_token":"r","expires_in":600,"id_token":"\#(token)"}"#
    }

    @Test func `A page's answer is of this client, in time, and good once`() async throws {
        let nonce = Box("")
        let audience = Box("demo")
        let elapsed = Box<Int64>(0)
        var clock = TokenClock.system()
        clock.wall = { 1_000_000 + elapsed.value }
        let isSpent = Box(false)
        let vestibule = try Self.client(
            MemoryStore(),
            clientID: "demo",
            ScriptedTransport { _ in
                if isSpent.value { return (400, #"{"error":"invalid_grant"}"#) }
                return (200, Self.granted(nonce.value, audience: audience.value))
            },
            clock
        )
        #expect(try await Self.finish(vestibule, nonce).value == "u")
        func code() async throws -> VestibuleError.Code? {
            let task = try await Self.finish(vestibule, nonce)
            return await #expect(throws: VestibuleError.self) { try await task.value }?.code
        }
        audience.value = "another"
        #expect(try await code() == .webStateInvalid)
        audience.value = "demo"
        isSpent.value = true
        #expect(try await code() == .invalidGrant)
        isSpent.value = false
        _ = try await vestibule.beginSignIn(redirectURI: "a:/b")
        elapsed.value = 3_700_000
        // The one that was begun before is forgotten with the next write.
        #expect(try await Self.finish(vestibule, nonce).value == "u")
        let kept = try await vestibule.keeper.record().hosted
        #expect(kept.isEmpty)
    }

    @Test func `A page's answer signs in although its task is cancelled`() async throws {
        let nonce = Box("")
        let gate = Flight<Void>()
        let isSent = Box(false)
        let vestibule = try Self.client(
            MemoryStore(),
            clientID: "demo",
            ScriptedTransport { _ in
                isSent.value = true
                try await gate.value()
                return (200, Self.granted(nonce.value, audience: "demo"))
            }
        )
        let task = try await Self.finish(vestibule, nonce)
        try await Self.until { isSent.value }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.finish(.success(()))
        try await Self.until { try await vestibule.state == .signedIn(userID: "u") }
    }
}
