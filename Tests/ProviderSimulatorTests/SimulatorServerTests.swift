import HTTPClients
import HTTPJSON
import RPCTransport
import ServiceKit
import Synchronization
import Testing

@testable import ProviderSimulator

/// The program on a real socket.
struct SimulatorServerTests {
    private static func server(_ listen: String) throws -> SimulatorServer {
        let configuration = try Configuration.testing(
            keys: SimulatorServer.configurationKeys,
            program: SimulatorServer.programName,
            ["VESTIBULE_SIMULATOR_LISTEN": listen]
        )
        return SimulatorServer(configuration: configuration)
    }

    @Test func `The server listens, and stops on request`() async throws {
        let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
        let port = Mutex(0)
        try await Self.server("127.0.0.1:0").serve(
            stop: { for await _ in stopped {} },
            onListening: { listening in
                port.withLock { $0 = listening }
                stop.finish()
            }
        )
        #expect(port.withLock { $0 } > 0)
    }

    @Test func `A taken address is a fault`() async throws {
        let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
        try await Self.server("127.0.0.1:0").serve(
            stop: { for await _ in stopped {} },
            onListening: { port in
                let fault = await #expect(throws: TransportError.self) {
                    try await Self.server("127.0.0.1:\(port)").serve(stop: { for await _ in stopped {} })
                }
                guard case .addressInUse? = fault else {
                    Issue.record("\(String(describing: fault))")
                    return stop.finish()
                }
                stop.finish()
            }
        )
    }

    @Test func `A dropped call ends without an answer, its work done`() async throws {
        let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = try Self.server("127.0.0.1:0")
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { stop.finish() }
            group.addTask {
                try await server.serve(stop: { for await _ in stopped {} }, onListening: { port.yield($0) })
                port.finish()
            }
            // Requests are answered once the server has told its port.
            let listening = try #require(await ports.first { _ in true })
            try await Self.dropAndRetry(listening)
            stop.finish()
            try await group.waitForAll()
        }
    }

    private static func dropAndRetry(_ port: Int) async throws {
        let client = SocketClient(port: port)
        func post(_ path: String, _ type: String, _ body: String) async throws -> String {
            try await client.exchange([
                "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n"
                    + "Connection: close\r\n\r\n\(body)"
            ])
        }
        func code() async throws -> String {
            let order = #"{"client_id":"c","person":{"sub":"s"}}"#
            let answer = try await post("/control/google/sign-in", "application/json", order)
            let code = try #require(answer.firstMatch(of: /"authorization_code":"([^"]*)"/)).1
            return String(code).replacing("\\/", with: "/")
        }
        func exchange(_ code: String) async throws -> String {
            try await post(
                "/google/token",
                "application/x-www-form-urlencoded",
                Simulation.form([("client_id", "c"), ("code", code), ("grant_type", "authorization_code")])
            )
        }
        let order = #"{"provider":"google","endpoint":"token","mode":"drop","times":1"#
        let (lost, kept) = (try await code(), try await code())
        _ = try await post("/control/misbehave", "application/json", order + "}")
        #expect(try await exchange(lost).isEmpty)
        #expect(try await exchange(lost).contains("invalid_grant"))
        _ = try await post("/control/misbehave", "application/json", order + #","after_work":false}"#)
        #expect(try await exchange(kept).isEmpty)
        #expect(try await exchange(kept).contains("id_token"))
    }
}
