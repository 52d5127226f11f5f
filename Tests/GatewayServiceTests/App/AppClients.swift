import API
import Logging
import RPC
import ServiceKit
import Testing

@testable import GatewayService

/// What an app has: a client of each service of `vestibule.app.v1`, over a gateway's router, without sockets.
struct AppClients {
    let auth: AuthServiceClient
    let account: AccountServiceClient
    let groups: GroupServiceClient
    let keys: KeyServiceClient
    let metrics = MetricsRegistry()

    init(_ gateway: TestGateway, timeLimit: Duration = .seconds(60), logger: Logger? = nil) throws {
        var silent = Logger(label: "test")
        silent.logLevel = .critical
        let router = try gateway.gateway.router(timeLimit: timeLimit, logger: logger ?? silent, metrics: metrics)
        let channel = InProcessChannel(router)
        auth = AuthServiceClient(channel)
        account = AccountServiceClient(channel)
        groups = GroupServiceClient(channel)
        keys = KeyServiceClient(channel)
    }

    /// The options of a call by a user with a live session.
    static var asUser: CallOptions { options("Bearer \(StubServices.accessToken)") }

    /// The options of a call with this `authorization`, and further metadata.
    static func options(_ authorization: String?, _ others: KeyValuePairs<String, String> = [:]) -> CallOptions {
        var metadata = Metadata(others)
        if let authorization { metadata.add("authorization", authorization) }
        return CallOptions(metadata: metadata)
    }
}

/// The error that a call ends with.
func refusal(of call: () async throws -> Void) async throws -> RPCError {
    do {
        try await call()
    } catch let error as RPCError {
        return error
    }
    throw NotRefused()
}

private struct NotRefused: Error {}
