import API
import RPC
import RPCTransport
import Testing

/// Runs the server and the client of the page "Getting started". `make tidy` sees to it that its code is theirs.
@Suite(.timeLimit(.minutes(5)))
struct GettingStartedTests {
    @Test func `The server of the page answers its client`() async throws {
        let port = try await freePort()
        let serving = Task { try await serve(port: port) }
        #expect(try await ask(port: port) == [.serving, .serving])
        serving.cancel()
        _ = await serving.result
        // Its sockets are closed.
        try await withEventLoopGroup(loopCount: 1, name: "again") { group in
            let configuration = ServerConfiguration(port: port)
            try await withRPCServer(group: group, router: Router(), configuration: configuration) { _, again in
                #expect(again == port)
            }
        }
    }

    /// A port that nobody listens on.
    private func freePort() async throws -> Int {
        try await withEventLoopGroup(loopCount: 1, name: "port") { group in
            try await withRPCServer(group: group, router: Router()) { _, port in port }
        }
    }
}
