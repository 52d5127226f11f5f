import API
import IdentityDomain
import JOSE
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
            // Name and e-mail are ignored, and not stored for later either.
            var credentials = request.credentials
            (credentials.fullName, credentials.email) = ("", "")
            guard let provider = ProviderName(credentials.provider).flatMap({ providers[$0] }) else {
                throw IdentityError.providerUnknown
            }
            let asked = try EmailReservation(credentials)
            let credential = try await subject(of: credentials, provider: provider, context: context)
            let reservation = asked.flatMap { asked in credential.claims.map(asked.proven) ?? asked }
            // The answer reveals whether an address is registered: a person gets few of them.
            if reservation != nil, let asker = asker(credential, provider.policy.name, context) {
                try await store.countEmailQuestion(
                    of: asker,
                    nowMilliseconds: clock.nowMilliseconds,
                    deadline: context.deadline
                )
            }
            func account(_ subject: String) async throws -> FoundAccount {
                try await store.findAccount(
                    provider: provider.policy.name,
                    subject: subject,
                    issuedAtSeconds: credential.claims?.issuedAtSeconds,
                    reservation: reservation,
                    deadline: context.deadline
                )
            }
            var found = try await account(credential.subject)
            // Whom a sign-in would find by what Apple tells after an app went to another team.
            if found.userID == nil, let transferSubject = credential.claims?.transferSubject,
                let former = try await store.subject(transferredBy: transferSubject, deadline: context.deadline)
            {
                found = try await account(former)
            }
            var response = IdentityV1.FindAccountResponse()
            response.emailIsTaken = found.isEmailTaken
            guard let userID = found.userID else { return response }
            response.userID = userID.description
            // Who shows nothing is proven to nobody, but where signing in would let them in so. A blocked user, and one whose
            // provider account is disabled, gets the error of a sign-in.
            let isProven = credential.unprovenDialect == nil
            let opens = isProven || credential.unprovenDialect == found.unprovenDialect
            if opens, found.isBlocked { throw IdentityError.signIn(.accountBlocked) }
            if isProven, found.isDisabled { throw IdentityError.signIn(.providerAccountDisabled) }
            if isProven, found.isFromBefore { throw IdentityError.token(.expired) }
            if opens, !found.isDisabled, gateways.believes(context.peer.certificateNames) {
                response.callerProofs = ownKeys.current.proofs.proofs(
                    of: userID,
                    nowMilliseconds: clock.nowMilliseconds
                )
            }
            if let number = found.number {
                response.accountNumber = number
            } else {
                response.accountNumber = try await store.number(of: userID, deadline: context.deadline) ?? 0
            }
            return response
        }
    }

    /// Whom credentials name.
    private struct Credential {
        let subject: String
        /// What the provider says of the person; nil for credentials without proof.
        var claims: ProviderClaims?
        /// The dialect in which credentials without proof are shown.
        var unprovenDialect: String?
    }

    /// For whom questions about e-mail addresses are counted: the person that credentials prove, or the client's address, since
    /// without proof anybody can say another name each time. Nil for a client that has none.
    private func asker(_ credential: Credential, _ provider: ProviderName, _ context: ServerContext) -> [UInt8]? {
        guard credential.unprovenDialect == nil else { return addressKey.code(of: context.metadata) }
        return SHA256.hash("vestibule asked emails 1\0\(provider)\0\(credential.subject)")
    }

    /// Whom credentials name, and for those without proof the dialect in which they are shown.
    private func subject(
        of credentials: IdentityV1.SignInRequest,
        provider: ProviderConfiguration,
        context: ServerContext
    ) async throws -> Credential {
        let kind = try CredentialKind(credentials)
        switch kind {
        case .idToken:
            let token = try await verifiedToken(credentials, provider: provider, context: context)
            let step = try token.claims.proofStep(hasCode: !credentials.authorizationCode.isEmpty)
            let leeway = provider.policy.clockLeewaySeconds
            if step == .proven(.fresh), !token.claims.isFresh(nowSeconds: clock.nowSeconds, leewaySeconds: leeway) {
                throw IdentityError.signIn(.tokenStale)
            }
            try credentials.checkSubject(token.claims.subject)
            return Credential(subject: token.claims.subject, claims: token.claims)
        case .accessToken:
            let evidence = try await evidence(of: credentials, kind, provider: provider, context: context)
            guard let evidence else { throw IdentityError.signIn(.credentialsMissing) }
            return Credential(subject: evidence.claims.subject, claims: evidence.claims)
        case .unproven:
            let signIn = try UnprovenSignIn(credentials, provider: provider.policy, allowed: unprovenDialects)
            return Credential(subject: signIn.subject, unprovenDialect: signIn.dialect)
        case .code, .tickets:
            // To look them up would spend them.
            throw IdentityError.signIn(.credentialsMissing)
        }
    }
}
