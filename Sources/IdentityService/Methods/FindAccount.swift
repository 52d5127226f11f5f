import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Tells whom credentials name. They are verified as for a sign-in and not used up.
    func findAccount(
        _ request: IdentityV1.FindAccountRequest,
        context: ServerContext
    ) async throws -> IdentityV1.FindAccountResponse {
        try await context.answer {
            // What is told is ignored: nothing of it is kept for later either.
            var credentials = request.credentials
            (credentials.fullName, credentials.email) = ("", "")
            guard let provider = ProviderName(credentials.provider).flatMap({ providers[$0] }) else {
                throw IdentityFault.providerUnknown
            }
            let reservation = try EmailReservation(credentials)
            let found = try await store.findAccount(
                provider: provider.policy.name,
                subject: subject(of: credentials, provider: provider, context: context),
                reservation: reservation,
                deadline: context.deadline
            )
            var response = IdentityV1.FindAccountResponse()
            response.emailIsTaken = found.isEmailTaken
            guard let userID = found.userID else { return response }
            response.userID = userID.description
            if let number = found.number {
                response.accountNumber = number
            } else {
                response.accountNumber = try await store.number(of: userID, deadline: context.deadline) ?? 0
            }
            return response
        }
    }

    private func subject(
        of credentials: IdentityV1.SignInRequest,
        provider: ProviderConfiguration,
        context: ServerContext
    ) async throws -> String {
        let kind = try CredentialKind(credentials)
        switch kind {
        case .idToken:
            let token = try await verifiedToken(credentials, provider: provider, context: context)
            let step = try token.claims.proofStep(hasCode: !credentials.authorizationCode.isEmpty)
            let leeway = provider.policy.clockLeewaySeconds
            if step == .proven(.fresh), !token.claims.isFresh(nowSeconds: clock.nowSeconds, leewaySeconds: leeway) {
                throw IdentityFault.signIn(.tokenStale)
            }
            try credentials.checkSubject(token.claims.subject)
            return token.claims.subject
        case .accessToken:
            let evidence = try await evidence(of: credentials, kind, provider: provider, context: context)
            guard let evidence else { throw IdentityFault.signIn(.credentialsMissing) }
            return evidence.claims.subject
        case .unproven:
            return try UnprovenSignIn(credentials, provider: provider.policy, allowed: unprovenDialects).subject
        case .code, .tickets:
            // To look them up would spend them.
            throw IdentityFault.signIn(.credentialsMissing)
        }
    }
}
