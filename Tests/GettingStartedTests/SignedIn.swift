import API
import Logging
import RPC
import RPCTransport
import ServiceLifecycle
import SessionVerifier
import SwiftProtobuf
import UnixSignals

/// Lets a call through if it carries the access token of somebody who is signed in.
struct SignedInOnly: ServerInterceptor {
    let sessions: SessionVerifier

    func intercept<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ request: Request,
        _ context: ServerContext,
        next: @Sendable (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        try await check(context)
        return try await next(request, context)
    }

    func interceptStream(_ context: ServerContext, next: @Sendable () async throws -> Void) async throws {
        try await check(context)
        try await next()
    }

    private func check(_ context: ServerContext) async throws(RPCError) {
        let scheme = "Bearer "
        guard let authorization = context.metadata.only("authorization"), authorization.hasPrefix(scheme) else {
            throw RPCError(.unauthenticated, "an access token is needed")
        }
        do {
            // The session has whose it is, for the service to go by.
            _ = try await sessions.verify(String(authorization.dropFirst(scheme.count)))
        } catch {
            switch error {
            case .invalid: throw RPCError(.unauthenticated, "the access token is not valid")
            case .expired: throw RPCError(.unauthenticated, "the access token has expired")
            case .ended: throw RPCError(.unauthenticated, "the session has ended")
            // Of the token nothing is known: the app keeps it and tries again.
            case .unavailable(let cause): throw RPCError(.unavailable, "identity does not answer", cause: cause)
            }
        }
    }
}

/// Serves signed-in users, until SIGTERM or SIGINT.
///
/// - Parameter identity: where identity is, all its replicas, such as `identity.internal:7001`.
func serveSignedIn(port: Int, identity: String) async throws {
    try await withEventLoopGroup(loopCount: 2, name: "example") { group in
        let channel = try RPCChannel(target: identity, group: group)
        let sessions = SessionVerifier(
            channel: channel,
            configuration: SessionVerifierConfiguration(issuer: "https://api.example.com", audience: "vestibule")
        )
        var router = Router(interceptors: [SignedInOnly(sessions: sessions)])
        router.add(AlwaysServing())
        let server = RPCServer(group: group, router: router, configuration: ServerConfiguration(port: port))
        let services = ServiceGroup(
            // Ended from the last to the first: calls that are under way are verified to the end.
            services: [channel, sessions, server],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "example")
        )
        try await services.run()
    }
}
