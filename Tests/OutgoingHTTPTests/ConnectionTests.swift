import RPCTransport
import ScriptedHTTP
import Synchronization
import TestWaits
import Testing

@testable import OutgoingHTTP

/// Connections: kept, counted, ended; and the loops that they are on.
struct ConnectionTests {
    @Test func `A connection is used again`() async throws {
        let server = try ScriptedHTTPServer { _ in ScriptedHTTPServer.keptAnswer("yes") }
        defer { server.stop() }
        try await Self.onOneLoop { client in
            for _ in 0..<10 { _ = try await client.send(HTTPSClientTests.request(.get(), server.base + "/")) }
        }
        #expect(server.requests.count == 10)
        #expect(server.connectionCount == 1)
    }

    /// The first of a connection is answered, the second is not.
    private static func serverThatForgets() throws -> ScriptedHTTPServer {
        let isSecond = Mutex(false)
        return try ScriptedHTTPServer { _ in
            isSecond.withLock { isSecond in
                defer { isSecond.toggle() }
                return isSecond ? .hangUp : ScriptedHTTPServer.keptAnswer("yes")
            }
        }
    }

    @Test func `A form whose kept connection ends is not sent again, for it may have been done`() async throws {
        let server = try Self.serverThatForgets()
        defer { server.stop() }
        try await Self.onOneLoop { client in
            let form = HTTPSClientTests.request(.postForm([("code", "secret")]), server.base + "/token")
            _ = try await client.send(form)
            let error = await HTTPSClientTests.error { try await client.send(form) }
            #expect(error?.mayHaveBeenSent == true)
            guard case .connection = error?.cause else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        #expect(server.requests.count == 2)
    }

    @Test func `A GET whose kept connection ends is sent again`() async throws {
        let server = try Self.serverThatForgets()
        defer { server.stop() }
        try await Self.onOneLoop { client in
            for _ in 0..<2 {
                let answer = try await client.send(HTTPSClientTests.request(.get(), server.base + "/"))
                #expect(answer.body == Array("yes".utf8))
            }
        }
        #expect(server.requests.count == 3)
    }

    @Test(.timeLimit(.minutes(5))) func `No host gets more connections than the maximum; the others wait`() async throws
    {
        let server = try ScriptedHTTPServer { _ in ScriptedHTTPServer.keptAnswer("yes") }
        defer { server.stop() }
        var limits = Self.patient
        limits.connectionsPerHostMax = 3
        try await Self.onOneLoop(limits) { client in
            try await withThrowingTaskGroup { group in
                for _ in 0..<60 {
                    group.addTask { try await client.send(HTTPSClientTests.request(.get(), server.base + "/")) }
                }
                for try await answer in group { #expect(answer.status == 200) }
            }
        }
        #expect(server.requests.count == 60)
        #expect((1...3).contains(server.connectionCount))
    }

    @Test(.timeLimit(.minutes(5))) func `A connection that nobody uses is closed`() async throws {
        let server = try ScriptedHTTPServer { _ in ScriptedHTTPServer.keptAnswer("yes") }
        defer { server.stop() }
        var limits = HTTPSClient.Limits()
        limits.idleTime = .milliseconds(100)
        try await Self.onOneLoop(limits) { client in
            for count in 1...2 {
                _ = try await client.send(HTTPSClientTests.request(.get(), server.base + "/"))
                try await eventually { server.openConnectionCount == 0 }
                #expect(server.connectionCount == count)
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `A client that nobody holds closes its connections`() async throws {
        let server = try ScriptedHTTPServer { _ in ScriptedHTTPServer.keptAnswer("yes") }
        defer { server.stop() }
        var limits = HTTPSClient.Limits()
        limits.idleTime = .seconds(600)
        try await withEventLoopGroup(loopCount: 1, name: "outgoing") { group in
            func ask() async throws {
                let client = HTTPSClient(
                    userAgent: "test",
                    group: group,
                    limits: limits,
                    connectTimeout: .seconds(30)
                )
                _ = try await client.send(HTTPSClientTests.request(.get(), server.base + "/"))
            }
            try await ask()
            try await eventually { server.openConnectionCount == 0 }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `A request begins and ends on the loop of its caller`() async throws {
        let server = try ScriptedHTTPServer { _ in ScriptedHTTPServer.keptAnswer("yes") }
        defer { server.stop() }
        try await withEventLoopGroup(loopCount: 3, name: "outgoing") { group in
            let client = HTTPSClient(
                userAgent: "test",
                group: group,
                limits: Self.patient,
                connectTimeout: .seconds(30)
            )
            for loop in group.loops {
                let task = Task(executorPreference: loop) {
                    var stayed = true
                    for _ in 0..<5 {
                        _ = try await client.send(HTTPSClientTests.request(.get(), server.base + "/"))
                        stayed = stayed && loop.isCurrent
                    }
                    return stayed
                }
                let stayed = try await task.value
                #expect(stayed)
            }
        }
        #expect(server.connectionCount == 3, "each loop has its own")
    }

    @Test(.timeLimit(.minutes(5))) func `Requests in progress as the loops end fail, and so do later ones`()
        async throws
    {
        let server = try ScriptedHTTPServer([:])
        defer { server.stop() }
        let group = try EventLoopGroup(loopCount: 2, name: "outgoing")
        let client = HTTPSClient(userAgent: "test", group: group, connectTimeout: .seconds(30))
        let request = HTTPSClientTests.request(.get(), server.base + "/", timeout: .seconds(600))
        let errors = (0..<20).map { _ in Task { await HTTPSClientTests.error { try await client.send(request) } } }
        try await eventually { server.requests.count >= 20 }
        await group.shutdown()
        let closed = OutgoingHTTPError.Cause.connection("the client is closed")
        for error in errors { #expect(await error.value == OutgoingHTTPError(closed, mayHaveBeenSent: true)) }
        let late = await HTTPSClientTests.error { try await client.send(request) }
        #expect(late == OutgoingHTTPError(closed, mayHaveBeenSent: false))
    }

    /// Cancellations that come before the beginning, on the way, and after the end: each caller is resumed once, or this hangs
    /// or stops.
    @Test(.timeLimit(.minutes(5))) func `A cancellation may come at any moment`() async throws {
        let server = try ScriptedHTTPServer { _ in ScriptedHTTPServer.keptAnswer("yes") }
        defer { server.stop() }
        try await HTTPSClientTests.withClient { client in
            for round in 0..<300 {
                let task = Task { try await client.send(HTTPSClientTests.request(.get(), server.base + "/")) }
                if round % 3 > 0 { try await Task.sleep(for: .microseconds(round % 100 * 10)) }
                task.cancel()
                do {
                    let answer = try await task.value
                    #expect(answer.status == 200)
                } catch let error as OutgoingHTTPError {
                    #expect(error.cause == .cancelled)
                }
            }
        }
    }

    /// Limits that a slow machine doesn't come upon.
    static var patient: HTTPSClient.Limits {
        var limits = HTTPSClient.Limits()
        limits.idleTime = .seconds(600)
        return limits
    }

    static func onOneLoop(
        _ limits: HTTPSClient.Limits = patient,
        _ body: (HTTPSClient) async throws -> Void
    ) async throws {
        try await withEventLoopGroup(loopCount: 1, name: "outgoing") { group in
            try await body(
                HTTPSClient(
                    userAgent: "test",
                    group: group,
                    limits: limits,
                    connectTimeout: .seconds(30)
                )
            )
        }
    }
}
