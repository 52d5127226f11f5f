import API
import InvitesDomain
import Models
import RPC
import ServiceKit

extension InvitesMethods {
    /// The most groups that are returned.
    private static let groupsLookedUpMax = 100

    /// Returns the groups of any user, newest first. For identity alone.
    func lookUpGroups(
        _ request: InvitesV1.LookUpGroupsRequest,
        context: ServerContext
    ) async throws -> InvitesV1.LookUpGroupsResponse {
        try await context.answer {
            let found = try await groups.list(
                of: UserID(request.userID, or: InvitesError.userIDInvalid),
                after: nil,
                limit: Self.groupsLookedUpMax + 1,
                deadline: context.deadline
            )
            var response = InvitesV1.LookUpGroupsResponse()
            response.groups = found.prefix(Self.groupsLookedUpMax).map(AppV1.Group.init)
            response.isIncomplete = found.count > Self.groupsLookedUpMax
            return response
        }
    }
}
