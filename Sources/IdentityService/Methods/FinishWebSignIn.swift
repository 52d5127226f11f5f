import API
import IdentityDomain
import JOSE
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Verifies a provider's form, and stores it until the returned tickets are redeemed.
    ///
    /// The state is looked at first and the token's signature before anything is stored, so that strangers cost no row.
    func finishWebSignIn(
        _ request: IdentityV1.FinishWebSignInRequest,
        context: ServerContext
    ) async throws -> IdentityV1.FinishWebSignInResponse {
        // The form again gets other tickets; those of before are over.
        try await context.answer(mayBeRepeated: true) {
            let named = ProviderName(request.provider).flatMap { providers[$0] }
            guard named != nil || request.provider.isEmpty else { throw IdentityError.providerUnknown }
            let begun = try begun(request)
            guard let provider = named ?? begun.flatMap({ providers[$0.state.provider] }) else {
                throw IdentityError.providerUnknown
            }
            guard begun.map({ $0.state.provider == provider.policy.name }) ?? true else {
                throw IdentityError.web(.stateInvalid)
            }
            let grant = try await grant(request, begun, provider.policy, context)
            try Self.check(grant.claims, begun?.state, request)
            let tickets = WebTickets(randomBytes: randomBytes)
            let binding = WebTicketBinding(
                clientID: grant.claims.audience,
                codeChallenge: begun?.state.codeChallenge
            )
            try await store.keep(
                tickets,
                for: grant,
                boundTo: binding,
                addressCode: addressKey.code(of: context.metadata),
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = IdentityV1.FinishWebSignInResponse()
            response.idTokenTicket = tickets.idToken
            response.codeTicket = tickets.code
            response.appURL = begun?.state.appURL ?? ""
            response.clientID = grant.claims.audience
            response.email = grant.claims.email ?? grant.email
            response.provider = provider.policy.name.value
            return response
        }
    }

    /// What the sign-in began with; nil if it began without us, for clients that may.
    private func begun(
        _ request: IdentityV1.FinishWebSignInRequest
    ) throws(IdentityError) -> (state: WebState, rawNonce: String)? {
        if request.state.isEmpty {
            guard !request.clientsWithoutState.isEmpty else { throw .web(.stateInvalid) }
            return nil
        }
        guard ConstantTime.areEqual(request.state, request.browserState),
            let begun = webStates.verify(request.state, nowSeconds: clock.nowSeconds)
        else { throw .web(.stateInvalid) }
        // A link has a callback of its own, where no cookie says that this browser began it: the state of a sign-in is refused there.
        guard (begun.state.linkingSession != nil) == request.isLink else { throw .web(.stateInvalid) }
        return begun
    }

    /// What was posted, with the ID token verified.
    private func grant(
        _ request: IdentityV1.FinishWebSignInRequest,
        _ begun: (state: WebState, rawNonce: String)?,
        _ policy: ProviderPolicy,
        _ context: ServerContext
    ) async throws -> WebGrant {
        do {
            let token = try ProviderToken(parsing: request.idToken, policy: policy)
            // Without it there is no c_hash to check, and nothing that the second ticket could stand for.
            guard !request.authorizationCode.isEmpty else { throw TokenRejection.codeHash }
            let code = request.authorizationCode
            let claims = try await verifiedClaims(
                token,
                request.idToken,
                nonce: begun?.rawNonce ?? "",
                code: code,
                told: SubmittedDetails(fullName: request.fullName, email: request.email, deviceName: ""),
                policy: policy,
                context: context
            )
            return WebGrant(
                fingerprint: token.fingerprint,
                provider: policy.name,
                claims: claims,
                code: code,
                redirectURI: request.redirectUri,
                fullName: request.fullName,
                email: request.email,
                linkingSession: begun?.state.linkingSession
            )
        } catch let rejection as TokenRejection {
            throw IdentityError.token(rejection)
        }
    }

    /// Whether the token is one for browsers, and for the sign-in that began.
    private static func check(
        _ claims: ProviderClaims,
        _ state: WebState?,
        _ request: IdentityV1.FinishWebSignInRequest
    ) throws(IdentityError) {
        guard claims.policy.kind != .native else { throw .token(.audience) }
        guard let state else {
            guard request.clientsWithoutState.contains(claims.audience) else { throw .web(.stateInvalid) }
            return
        }
        guard claims.audience == state.clientID else { throw .token(.audience) }
        guard claims.nonceVerdict == .proven else { throw .token(.nonceMismatch) }
    }
}
