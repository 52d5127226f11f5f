import HTTPClients
import HTTPTypes
import Logging
import RPC
import Testing

@testable import HTTPJSON

/// Routes that are refused for a while.
struct SuspendedRouteTests {
    private static func client(until: Deadline) -> HandlerClient {
        var configuration = RouteHandler.Configuration()
        configuration.suspended = ["GET /things/{id}": until]
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        let routes = [
            Route(.get, "/things/{id}", handler: { _, _ in Response(status: .ok) }),
            Route(.delete, "/things/{id}", atOnce: { _, _ in Response(status: .noContent) }),
        ]
        return HandlerClient(RouteHandler(routes: routes, configuration: configuration, logger: quiet))
    }

    @Test func `Requests are refused until the moment, and those of other routes are not`() async throws {
        let client = Self.client(until: .never)
        let refused = try await client.send(.get, "/things/7")
        #expect(refused.status == .serviceUnavailable && refused.text.contains("METHOD_SUSPENDED"))
        #expect(try await client.send(.delete, "/things/7").status == .noContent)
        #expect(try await Self.client(until: .now()).send(.get, "/things/7").status == .ok)
    }
}
