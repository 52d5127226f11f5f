import API
import IdentityDomain
import Models
import RPC

extension OperatorMethods {
    /// Opens an imported account that nobody can sign in to, for the person of another one.
    func openAccount(
        _ request: OperatorV1.OpenAccountRequest,
        context: ServerContext
    ) async throws -> OperatorV1.OpenAccountResponse {
        try await answer(context) { name in
            let (holder, claimant) = (try account(request.userID), try account(request.forUserID))
            // In the audit log of both, also if nothing comes of it.
            for userID in [holder, claimant] { try await record(userID, by: "open", name, context) }
            var response = OperatorV1.OpenAccountResponse()
            // Asked again, since an answer was lost.
            if let providers = try await store.opening(of: holder, for: claimant, deadline: context.deadline) {
                (response.providers, response.wasOpen) = (providers, true)
                return response
            }
            if request.validateOnly {
                response.providers = try await judge(holder, for: claimant, name, context)
                return response
            }
            switch try await opener.open(holder, for: claimant, .byOperator(name), deadline: context.deadline) {
            case .opened(let providers): response.providers = providers
            case .isUnderWay, .mustWait: throw IdentityError.link(.absorptionUnderWay)
            case .refused(let refusal): throw Self.fault(refusal)
            }
            return response
        }
    }

    /// What would sign the person in.
    private func judge(
        _ holder: UserID,
        for claimant: UserID,
        _ name: String?,
        _ context: ServerContext
    ) async throws -> [String] {
        do {
            return try await store.judgeOpening(
                of: holder,
                for: claimant,
                .byOperator(name),
                deadline: context.deadline
            )
        } catch let refusal as AccountOpening.Refusal {
            throw Self.fault(refusal)
        }
    }

    private static func fault(_ refusal: AccountOpening.Refusal) -> IdentityError {
        switch refusal {
        case .gone, .claimantGone: .accountNotFound
        case .blocked: .signIn(.accountBlocked)
        case .notOpenable: .operation(.accountNotOpenable)
        case .notAbsorbable: .operation(.accountNotAbsorbable)
        }
    }
}
