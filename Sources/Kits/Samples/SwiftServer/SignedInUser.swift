import API
import Logging
import RPC
import SessionVerifier
import SwiftProtobuf

// cut: verify
extension SessionVerifier {
    /// The user who calls, by the access token of the call.
    func user(of context: ServerContext) async throws(RPCError) -> String {
        let scheme = "Bearer "
        guard let authorization = context.metadata.only("authorization"), authorization.hasPrefix(scheme) else {
            throw RPCError(.unauthenticated, "an access token is needed")
        }
        do {
            return try await verify(String(authorization.dropFirst(scheme.count))).userID
        } catch {
            switch error {
            case .invalid, .expired: throw RPCError(.unauthenticated, "the access token is not valid")
            case .ended: throw RPCError(.unauthenticated, "the session has ended")
            // Nothing is known about the token: the app keeps it and tries again.
            case .unavailable(let cause): throw RPCError(.unavailable, "identity does not answer", cause: cause)
            }
        }
    }
}
// cut end

// cut: handler
/// Says to signed-in users that the service is there.
struct SignedInHealth: HealthHandler {
    let sessions: SessionVerifier
    let logger: Logger

    func check(
        _ request: HealthV1.HealthCheckRequest,
        context: ServerContext
    ) async throws -> HealthV1.HealthCheckResponse {
        let userID = try await sessions.user(of: context)
        logger.info("called", metadata: ["user": "\(userID)"])
        return .with { $0.status = .serving }
    }

    func watch(
        _ request: HealthV1.HealthCheckRequest,
        responses: MessageWriter<HealthV1.HealthCheckResponse>,
        context: ServerContext
    ) async throws {
        _ = try await sessions.user(of: context)
        try await responses.write(.with { $0.status = .serving })
    }
}
// cut end
