import API
import IdentityDomain
import Models
import RPC

extension OperatorMethods {
    /// Keeps an account's person out.
    func blockAccount(
        _ request: OperatorV1.BlockAccountRequest,
        context: ServerContext
    ) async throws -> OperatorV1.BlockAccountResponse {
        try await answer(context) { name in
            let userID = try account(request.userID)
            guard let reason = BlockReason(request.reason) else { throw IdentityError.operation(.reasonInvalid) }
            let outcome = try await store.blockAccount(
                userID,
                reason: reason,
                by: name,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            revocations.announce()
            var response = OperatorV1.BlockAccountResponse()
            response.wasBlocked = outcome.wasBlocked
            response.endedSessions = outcome.endedSessions
            return response
        }
    }

    /// Lets an account's person sign in again.
    func unblockAccount(
        _ request: OperatorV1.UnblockAccountRequest,
        context: ServerContext
    ) async throws -> OperatorV1.UnblockAccountResponse {
        try await answer(context) { name in
            let wasBlocked = try await store.unblockAccount(
                account(request.userID),
                by: name,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            guard let wasBlocked else { throw IdentityError.accountNotFound }
            var response = OperatorV1.UnblockAccountResponse()
            response.wasBlocked = wasBlocked
            return response
        }
    }

    /// Ends all sessions of an account.
    func endSessions(
        _ request: OperatorV1.EndSessionsRequest,
        context: ServerContext
    ) async throws -> OperatorV1.EndSessionsResponse {
        try await answer(context) { name in
            let userID = try account(request.userID)
            guard try await store.isThere(userID, deadline: context.deadline) else {
                throw IdentityError.accountNotFound
            }
            var response = OperatorV1.EndSessionsResponse()
            response.endedSessions = try await store.endSessions(
                of: userID,
                by: name,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline ?? .after(IdentityStore.epochStatementLimit)
            )
            revocations.announce()
            return response
        }
    }
}
