import API
import Models
import ProfileDomain
import RPC
import ServiceKit

extension ProfileMethods {
    /// The default and the maximum of disputes in a list.
    private static let disputesDefault = 100
    private static let disputesMax = 1_000

    /// Lists numbers that two users have proven, oldest first. For identity alone.
    func listPhoneDisputes(
        _ request: ProfileV1.ListPhoneDisputesRequest,
        context: ServerContext
    ) async throws -> ProfileV1.ListPhoneDisputesResponse {
        try await context.answer {
            guard request.pageSize >= 0 else { throw ProfileError.pageSizeInvalid }
            let size = request.pageSize == 0 ? Self.disputesDefault : min(Int(request.pageSize), Self.disputesMax)
            var response = ProfileV1.ListPhoneDisputesResponse()
            response.disputes = try await store.disputes(limit: size, deadline: context.deadline).map { dispute in
                var message = ProfileV1.PhoneDispute()
                message.phoneNumber = dispute.phone.e164
                message.holderUserID = dispute.holder.description
                message.claimantUserID = dispute.claimant.description
                message.proof = dispute.proof.message
                message.createdAtMs = dispute.createdAtMilliseconds
                return message
            }
            return response
        }
    }
}
