import API
import IdentityDomain
import Logging
import Models
import RPC
import SwiftProtobuf

/// Asks invites for operators.
struct OperatorGroups: Sendable {
    /// The timeout of a call.
    static let timeout = Duration.seconds(5)

    let client: InvitesServiceClient
    let logger: Logger

    /// The groups of an account, the newest first, and whether there are more.
    ///
    /// - Throws: `groupsUnavailable`.
    func groups(of userID: UserID) async throws(IdentityError) -> OperatorV1.ListGroupsResponse {
        do {
            let request = InvitesV1.LookUpGroupsRequest.with { $0.userID = userID.description }
            let found = try await client.lookUpGroups(request, options: CallOptions(timeout: Self.timeout))
            var response = OperatorV1.ListGroupsResponse()
            response.groups = found.groups.map { OperatorV1.OperatorGroup($0) }
            response.isIncomplete = found.isIncomplete
            return response
        } catch {
            logger.warning("invites cannot be asked for an operator", metadata: ["rpc_code": "\(error.code)"])
            throw .operation(.groupsUnavailable)
        }
    }
}
