import API
import RPC
import RPCTransport

/// Asks the server on this machine whether it serves, and then for the first status that it streams.
func ask(port: Int) async throws -> [HealthV1.HealthCheckResponse.ServingStatus] {
    try await withEventLoopGroup(loopCount: 1, name: "example") { group in
        try await withRPCChannel(target: "127.0.0.1:\(port)", group: group) { channel in
            let health = HealthClient(channel)
            // The server may still be starting: the call waits for a connection until its deadline.
            let options = CallOptions(timeout: .seconds(10), waitForReady: true)
            let answer = try await health.check(.init(), options: options)
            let first = try await health.watch(.init(), options: options) { responses in
                try await responses.first { _ in true }
            }
            return [answer.status] + (first.map { [$0.status] } ?? [])
        }
    }
}
