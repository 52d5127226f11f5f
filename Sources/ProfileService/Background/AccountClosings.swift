import API
import Logging
import Models
import ProfileDomain
import RPC

/// Asks identity whether accounts were closed.
struct AccountClosings: Sendable {
    /// How long identity may take.
    static let timeout = Duration.seconds(2)

    let identity: IdentityServiceClient
    let logger: Logger

    /// Whether an account was closed. False also if identity doesn't answer such questions, or not to this service: then a user keeps what
    /// they have until identity says otherwise.
    ///
    /// - Throws: `ProfileError.holderUnknown` if identity can't answer now.
    func isClosed(_ userID: UserID) async throws(ProfileError) -> Bool { try await state(of: userID).isClosed }

    /// Identity's state of an account. If identity doesn't answer such questions, or not to this service: open, and without a known time of
    /// last activity.
    ///
    /// - Throws: `ProfileError.holderUnknown` if identity can't answer now.
    func state(of userID: UserID) async throws(ProfileError) -> IdentityV1.GetAccountStateResponse {
        var request = IdentityV1.GetAccountStateRequest()
        request.userID = userID.description
        do {
            return try await identity.getAccountState(request, options: CallOptions(timeout: Self.timeout))
        } catch {
            logger.warning("it is not known whether an account was closed", metadata: ["rpc_code": "\(error.code)"])
            switch error.code {
            case .unimplemented, .permissionDenied, .unauthenticated: return IdentityV1.GetAccountStateResponse()
            default: throw .holderUnknown
            }
        }
    }
}
