import API
import IdentityDomain
import Models
import RPC

extension OperatorMethods {
    /// Takes a phone number from the account that has it.
    ///
    /// The audit log is written before profile is called, so that it has every change.
    func releasePhone(
        _ request: OperatorV1.ReleasePhoneRequest,
        context: ServerContext
    ) async throws -> OperatorV1.ReleasePhoneResponse {
        try await answer(context) { name in
            var response = OperatorV1.ReleasePhoneResponse()
            guard let (userID, phoneNumber) = try await holder(of: request) else { return response }
            try await store.tellPhoneReleased(
                of: userID,
                by: name,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            response.phoneNumber = try await profile.release(phoneNumber, of: userID)
            if !response.phoneNumber.isEmpty { response.userID = userID.description }
            return response
        }
    }

    /// Lists the numbers that two accounts have proven.
    ///
    /// The audit log is written before profile is asked, so that it has every request.
    func listPhoneDisputes(
        _ request: OperatorV1.ListPhoneDisputesRequest,
        context: ServerContext
    ) async throws -> OperatorV1.ListPhoneDisputesResponse {
        try await answer(context) { name in
            try await record(nil, by: "phone_disputes", name, context)
            var response = OperatorV1.ListPhoneDisputesResponse()
            response.disputes = try await profile.disputes(limit: request.pageSize).map { dispute in
                var message = OperatorV1.PhoneDispute()
                message.phoneNumber = dispute.phoneNumber
                message.holderUserID = dispute.holderUserID
                message.claimantUserID = dispute.claimantUserID
                message.proof =
                    switch dispute.proof {
                    case .provider: "provider"
                    case .assertion: "assertion"
                    case .import: "import"
                    case .unspecified, .UNRECOGNIZED: ""
                    }
                message.createdAtMs = dispute.createdAtMs
                return message
            }
            return response
        }
    }

    /// Whose number is meant, and which; empty for whichever the account has. Nil if nobody has the number.
    private func holder(of request: OperatorV1.ReleasePhoneRequest) async throws -> (UserID, String)? {
        switch request.by {
        case .userID(let text):
            return (try account(text), "")
        case .phoneNumber(let text):
            let holder = try await profile.holder(of: text)
            return holder.userID.isEmpty ? nil : (try account(holder.userID), holder.phoneNumber)
        case nil:
            throw IdentityError.operation(.accountUnnamed)
        }
    }
}
