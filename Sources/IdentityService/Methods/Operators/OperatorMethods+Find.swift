import API
import IdentityDomain
import Models
import RPC

extension OperatorMethods {
    /// Finds accounts by id, phone number, e-mail, or the id that another backend had.
    func findAccount(
        _ request: OperatorV1.FindAccountRequest,
        context: ServerContext
    ) async throws -> OperatorV1.FindAccountResponse {
        try await answer(context) { name in
            let (key, word) = try await key(of: request)
            let (found, hasMore) = try await store.findAccounts(
                key,
                by: word,
                name,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = OperatorV1.FindAccountResponse()
            response.isIncomplete = hasMore
            for standing in found {
                // Nil if it was deleted since.
                let account = try await store.account(standing.userID, deadline: context.deadline)
                guard let account else { continue }
                var told = OperatorV1.OperatorAccount(account, standing)
                if let profile = await profile.profile(of: standing.userID) { told.profile = profile }
                response.accounts.append(told)
            }
            return response
        }
    }

    /// By what to look; nil for a number that nobody has.
    private func key(of request: OperatorV1.FindAccountRequest) async throws -> (AccountKey?, word: String) {
        switch request.by {
        case .userID(let text):
            return (.userID(try account(text)), "user_id")
        case .email(let text):
            guard let email = EmailAddress.accept(text) else { throw IdentityError.operation(.emailInvalid) }
            return (.email(email), "email")
        case .phoneNumber(let text):
            let holder = try await profile.holder(of: text).userID
            return (holder.isEmpty ? nil : .userID(try account(holder)), "phone_number")
        case .importedID(let text):
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw IdentityError.operation(.accountUnnamed) }
            return (.importedID(source: String(parts[0]), oldID: String(parts[1])), "imported_id")
        case nil:
            throw IdentityError.operation(.accountUnnamed)
        }
    }
}
