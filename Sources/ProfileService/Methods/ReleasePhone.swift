import API
import Models
import ProfileDomain
import RPC
import ServiceKit

extension ProfileMethods {
    /// Takes the phone number from a user, and starts the delivery of the events. For identity alone.
    func releasePhone(
        _ request: ProfileV1.ReleasePhoneRequest,
        context: ServerContext
    ) async throws -> ProfileV1.ReleasePhoneResponse {
        try await context.answer {
            let userID = try UserID(request.userID, or: ProfileError.userIDInvalid)
            let expected = request.phoneNumber.isEmpty ? nil : try phone(request.phoneNumber)
            let released = try await store.releasePhone(
                of: userID,
                ifItIs: expected,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            if released != nil { phoneChanged() }
            var response = ProfileV1.ReleasePhoneResponse()
            response.phoneNumber = released?.e164 ?? ""
            return response
        }
    }
}
