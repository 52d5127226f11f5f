import HTTPJSON
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

    @Test func `It listens and stops when told`() async throws {
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

    @Test func `A taken address is one clear line`() async throws {
        let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
        try await Self.server("127.0.0.1:0").serve(
            stop: { for await _ in stopped {} },
            onListening: { port in
                let fault = await #expect(throws: HTTPListenError.self) {
                    try await Self.server("127.0.0.1:\(port)").serve(stop: { for await _ in stopped {} })
                }
                #expect(fault?.description == "cannot listen on 127.0.0.1:\(port): Address already in use")
                stop.finish()
            }
        )
    }
}
