import API
import Models
import ProfileDomain
import RPC
import ServiceKit

extension ProfileMethods {
    /// Returns the user who has a phone number. For identity alone.
    func findPhoneHolder(
        _ request: ProfileV1.FindPhoneHolderRequest,
        context: ServerContext
    ) async throws -> ProfileV1.FindPhoneHolderResponse {
        try await context.answer {
            let phone = try phone(request.phoneNumber)
            var response = ProfileV1.FindPhoneHolderResponse()
            response.phoneNumber = phone.e164
            response.userID = try await store.holder(of: phone, deadline: context.deadline)?.description ?? ""
            return response
        }
    }

    /// Parses a number.
    func phone(_ text: String) throws(ProfileError) -> PhoneNumber {
        do throws(PhoneNumber.Fault) {
            return try PhoneNumber(text, policy: phonePolicy)
        } catch {
            if error == .libraryFailed { throw .phoneUnreadable }
            throw .invalidFields([.phone(error)])
        }
    }
}
