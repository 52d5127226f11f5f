import API
import IdentityDomain
import Models
import RPC
import ServiceKit

/// The methods of `vestibule.operator.v1.OperatorService`.
struct OperatorMethods: OperatorServiceHandler {
    let store: IdentityStore
    /// Has names and phone numbers.
    let profile: OperatorProfiles
    /// Opens imported accounts.
    let opener: AccountOpener
    /// Tells who watches which sessions end.
    let revocations: RevocationHub
    /// Has the groups.
    let groups: OperatorGroups
    /// Who is an operator.
    let operators: OperatorCallers
    /// Our own keys, which seal page tokens.
    let ownKeys: CurrentKeys
    let identifiers: IdentifierSource
    let clock: WallClock
    /// Has the other services told of a closed account.
    let accountClosed: @Sendable () -> Void

    /// Runs a method's body for an operator, whose name it is given: that in the certificate, or the one that a console says; nil where
    /// callers have none.
    ///
    /// The list of who may call what (`PeerAllowList`) comes before it. This holds also where that lets a gateway or service call
    /// everything.
    func answer<Response: Sendable>(
        _ context: ServerContext,
        _ body: (String?) async throws -> Response
    ) async throws -> Response {
        try await context.answer {
            try await body(
                operators.name(
                    certificateNames: context.peer.certificateNames,
                    claimed: context.metadata.first(OperatorName.metadataKey)
                )
            )
        }
    }

    /// The account that a request names.
    func account(_ text: String) throws(IdentityError) -> UserID { try UserID(text, or: IdentityError.userIDInvalid) }
}
