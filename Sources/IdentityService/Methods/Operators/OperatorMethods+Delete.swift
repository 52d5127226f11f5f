import API
import IdentityDomain
import Models
import RPC

extension OperatorMethods {
    /// Deletes an account permanently.
    func deleteAccount(
        _ request: OperatorV1.DeleteAccountRequest,
        context: ServerContext
    ) async throws -> OperatorV1.DeleteAccountResponse {
        try await answer(context) { name in
            let closing = try await store.closeAccount(
                account(request.userID),
                why: .byOperator,
                ground: .operatorNamed(name),
                eventIDs: (identifiers.make(), identifiers.make()),
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            if closing.isNew { accountClosed() }
            var response = OperatorV1.DeleteAccountResponse()
            response.wasDeleted = !closing.isNew
            response.consentsLeft = closing.consentsLeft
            return response
        }
    }
}
