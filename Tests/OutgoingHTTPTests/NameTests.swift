import RPCTransport
import ScriptedHTTP
import Synchronization
import Testing

@testable import OutgoingHTTP

/// Host names, which our resolver looks up, and never libcurl.
struct NameTests {
    @Test func `A host's addresses are looked up once, and the server gets the name`() async throws {
        let server = try ScriptedHTTPServer(["/": ScriptedHTTPServer.answer(body: "yes")])
        defer { server.stop() }
        let resolver = TestResolver(["keys.provider.example": ["127.0.0.1"]])
        try await withEventLoopGroup(loopCount: 1, name: "outgoing") { group in
            let client = HTTPSClient(
                userAgent: "test",
                group: group,
                connectTimeout: .seconds(30),
                resolver: resolver
            )
            try await withThrowingTaskGroup { tasks in
                for host in ["keys.provider.example", "Keys.Provider.EXAMPLE"] {
                    for _ in 0..<10 {
                        tasks.addTask {
                            try await client.send(HTTPSClientTests.request(.get(), "http://\(host):\(server.port)/"))
                        }
                    }
                }
                for try await answer in tasks { #expect(answer.body == Array("yes".utf8)) }
            }
        }
        #expect(resolver.asked == ["keys.provider.example"])
        #expect(server.requests.allSatisfy { $0.headers.contains("host: keys.provider.example:\(server.port)") })
    }

    /// Nobody listens at the first address; TEST-NET-1 would time out, a closed port of this machine refuses.
    @Test func `The next address is tried if the first refuses`() async throws {
        let server = try ScriptedHTTPServer(["/": ScriptedHTTPServer.answer(body: "yes")])
        defer { server.stop() }
        let resolver = TestResolver(["a.example": ["::1", "127.0.0.2", "127.0.0.1", "fe80::1%lo"]])
        try await HTTPSClientTests.withClient(resolver: resolver) { client in
            let answer = try await client.send(HTTPSClientTests.request(.get(), "http://a.example:\(server.port)/"))
            #expect(answer.status == 200)
        }
    }

    @Test func `A name without an address is an error, and is looked up again each time`() async throws {
        let resolver = TestResolver([:])
        try await HTTPSClientTests.withClient(resolver: resolver) { client in
            for _ in 0..<2 {
                let error = await HTTPSClientTests.error {
                    try await client.send(HTTPSClientTests.request(.get(), "https://nobody.example/"))
                }
                let cause = OutgoingHTTPError.Cause.connection("the name nobody.example has no address")
                #expect(error == OutgoingHTTPError(cause, mayHaveBeenSent: false))
            }
        }
        #expect(resolver.asked == ["nobody.example", "nobody.example"])
    }

    @Test func `Addresses that can't be reached are looked up again`() async throws {
        let resolver = TestResolver(["a.example": ["127.0.0.1"]])
        try await withEventLoopGroup(loopCount: 1, name: "outgoing") { group in
            let client = HTTPSClient(
                userAgent: "test",
                group: group,
                connectTimeout: .seconds(30),
                resolver: resolver
            )
            for _ in 0..<2 {
                let error = await HTTPSClientTests.error {
                    try await client.send(HTTPSClientTests.request(.get(), "http://a.example:1/"))
                }
                #expect(error?.mayHaveBeenSent == false)
            }
        }
        #expect(resolver.asked == ["a.example", "a.example"])
    }

    @Test(.timeLimit(.minutes(5))) func `A request waits for a name no longer than its timeout`() async throws {
        let resolver = TestResolver([:], isStuck: true)
        defer { resolver.letGo() }
        try await HTTPSClientTests.withClient(connectTimeout: .seconds(2), resolver: resolver) { client in
            let request = HTTPSClientTests.request(.get(), "http://slow.example/", timeout: .milliseconds(100))
            let late = await HTTPSClientTests.error { try await client.send(request) }
            #expect(late == OutgoingHTTPError(.timeout, mayHaveBeenSent: false))
            let patient = HTTPSClientTests.request(.get(), "http://slow.example/", timeout: .seconds(600))
            let begun = ContinuousClock.now
            let task = Task { await HTTPSClientTests.error { try await client.send(patient) } }
            try await Task.sleep(for: .milliseconds(50))
            task.cancel()
            #expect(await task.value == OutgoingHTTPError(.cancelled, mayHaveBeenSent: false))
            let overdue = await HTTPSClientTests.error { try await client.send(patient) }
            #expect(overdue == OutgoingHTTPError(.timeout, mayHaveBeenSent: false), "the time to connect has passed")
            #expect(ContinuousClock.now - begun < .seconds(50))
        }
    }

    /// More names than libcurl may hold: the oldest are removed, and all are reached.
    @Test(.timeLimit(.minutes(5))) func `There may be more names than are cached`() async throws {
        let server = try ScriptedHTTPServer(["/": ScriptedHTTPServer.answer(body: "yes")])
        defer { server.stop() }
        let names = (0..<(LoopAddresses.hostsMax + 40)).map { "host\($0).example" }
        let resolver = TestResolver(Dictionary(uniqueKeysWithValues: names.map { ($0, ["127.0.0.1"]) }))
        try await withEventLoopGroup(loopCount: 1, name: "outgoing") { group in
            let client = HTTPSClient(
                userAgent: "test",
                group: group,
                connectTimeout: .seconds(30),
                resolver: resolver
            )
            for name in names {
                let answer = try await client.send(HTTPSClientTests.request(.get(), "http://\(name):\(server.port)/"))
                #expect(answer.status == 200)
            }
        }
    }
}

/// Resolves the names that a test sets.
final class TestResolver: NameResolver {
    private let names: [String: [String]]
    private let state: Mutex<(asked: [String], isStuck: Bool)>

    init(_ names: [String: [String]], isStuck: Bool = false) {
        self.names = names
        state = Mutex(([], isStuck))
    }

    var asked: [String] { state.withLock { $0.asked } }

    func letGo() { state.withLock { $0.isStuck = false } }

    func addresses(of host: String) async -> [String] {
        state.withLock { $0.asked.append(host) }
        while state.withLock({ $0.isStuck }) { try? await Task.sleep(for: .milliseconds(5)) }
        return names[host] ?? []
    }
}
