import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Returns the live sessions of the caller's account, when it will be deleted, and what was changed lately about the ways into it. What
    /// is being ended at this moment may still be among them.
    func listSessions(
        _ request: IdentityV1.ListSessionsRequest,
        context: ServerContext
    ) async throws -> IdentityV1.ListSessionsResponse {
        try await context.answer {
            let owner = try await owner(request.accessToken, context)
            let sessions = try await store.sessions(
                of: owner.userID,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            let changes = try await store.changes(
                of: owner.userID,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = IdentityV1.ListSessionsResponse()
            response.deletesAtMs = try await store.deletionTime(of: owner.userID, deadline: context.deadline) ?? 0
            response.sessions = sessions.map { IdentityV1.Session($0, current: owner.sessionID) }
            response.recentChanges = changes.map { IdentityV1.AccountChange($0) }
            return response
        }
    }
}
