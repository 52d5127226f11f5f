import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Gives a live session of the caller's account another name. An id that is none is one that nobody has.
    func renameSession(
        _ request: IdentityV1.RenameSessionRequest,
        context: ServerContext
    ) async throws -> IdentityV1.RenameSessionResponse {
        try await context.answer {
            let owner = try await owner(request.accessToken, context)
            let session = try await store.renameSession(
                SessionID(request.sessionID, or: IdentityError.sessionNotFound),
                of: owner.userID,
                to: DeviceName.check(request.deviceName),
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            guard let session else { throw IdentityError.sessionNotFound }
            var response = IdentityV1.RenameSessionResponse()
            response.session = IdentityV1.Session(session, current: owner.sessionID)
            return response
        }
    }
}
