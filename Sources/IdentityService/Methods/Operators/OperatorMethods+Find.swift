import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension OperatorMethods {
    /// Finds accounts.
    func findAccount(
        _ request: OperatorV1.FindAccountRequest,
        context: ServerContext
    ) async throws -> OperatorV1.FindAccountResponse {
        try await answer(context) { name in
            let reason = try request.reason.isEmpty ? nil : BlockReason(request.reason, or: .reasonInvalid)
            let search = try await search(of: request)
            let hashes = ownKeys.current.searchKeys.map { search.term.hash(key: $0) }
            let (found, hasMore) = try await store.findAccounts(
                search.key,
                by: search.term.kind,
                term: hashes.first,
                reason: reason,
                name,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = OperatorV1.FindAccountResponse()
            response.isIncomplete = hasMore || search.isCut
            response.auditTerms = hashes
            var isProfileThere = true
            for standing in found {
                // Nil if it was deleted since.
                let account = try await store.account(standing.userID, deadline: context.deadline)
                guard let account else { continue }
                var told = OperatorV1.OperatorAccount(account, standing)
                // One that can't be asked is not asked for each account: all of it has to fit into the caller's time.
                if isProfileThere, let profile = await profile.profile(of: standing.userID) {
                    told.profile = profile
                } else {
                    isProfileThere = false
                }
                response.accounts.append(told)
            }
            return response
        }
    }
}
