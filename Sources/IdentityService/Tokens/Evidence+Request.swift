import API
import IdentityDomain
import JOSE
import Models
import RPC
import ServiceKit

/// An ID token whose signature and claims were verified.
struct VerifiedIDToken: Sendable {
    /// SHA-256 over what the provider signed.
    let fingerprint: [UInt8]
    /// What it says.
    let claims: ProviderClaims
}

extension IdentityMethods {
    /// Verifies what was presented and finds what proves the sign-in; nil for tickets that are not there any more, which may
    /// have bought a session a moment ago. A code is exchanged here, before anything is stored.
    ///
    /// - Parameters:
    ///   - isForAct: whether an ``AccountAct`` stands on it: then only a nonce or a code proves it, whatever the audience accepts for a
    ///     sign-in.
    ///   - isForLink: whether it is to be linked: tickets that were made for that are good for nothing else.
    func evidence(
        of request: IdentityV1.SignInRequest,
        _ kind: CredentialKind,
        provider: ProviderConfiguration,
        isForAct: Bool = false,
        isForLink: Bool = false,
        context: ServerContext
    ) async throws -> Evidence? {
        let evidence: Evidence?
        switch kind {
        case .idToken: evidence = try await idTokenEvidence(request, provider, isForAct: isForAct, context)
        case .tickets: evidence = try await ticketEvidence(request, provider, isForAct: isForAct, context)
        case .code: evidence = try await codeEvidence(request, provider: provider, context: context)
        case .accessToken:
            // Before the provider is asked.
            if isForAct { throw IdentityError.proofRequired }
            evidence = try await accessTokenEvidence(request, provider: provider, context: context)
        case .unproven: throw IdentityError.signIn(.proofRequired)
        }
        if let evidence { try request.checkSubject(evidence.claims.subject) }
        if evidence?.linkingSession != nil, !isForLink { throw IdentityError.signIn(.ticketInvalid) }
        return evidence
    }

    /// What a ticket's session is found by when the ticket itself is gone.
    static func fingerprint(ofTickets request: IdentityV1.SignInRequest) -> [UInt8] {
        SHA256.hash("vestibule tickets 1\0\(request.idToken)\0\(request.authorizationCode)\0\(request.codeVerifier)")
    }

    /// Verifies an ID token. If that fails for now, name and e-mail are stored for the user.
    func verifiedToken(
        _ request: IdentityV1.SignInRequest,
        provider: ProviderConfiguration,
        context: ServerContext
    ) async throws -> VerifiedIDToken {
        let policy = provider.policy
        do {
            let token = try ProviderToken(parsing: request.idToken, policy: policy)
            let claims = try await verifiedClaims(
                token,
                request.idToken,
                nonce: request.nonce,
                code: request.authorizationCode,
                told: SubmittedDetails(request),
                policy: policy,
                context: context
            ) { claims in
                guard request.clientID.isEmpty || request.clientID == claims.audience else {
                    throw TokenRejection.audience
                }
                guard claims.policy.nonce == .server else { return }
                try nonces.check(
                    request.nonce,
                    provider: policy.name,
                    audience: claims.audience,
                    nowSeconds: clock.nowSeconds
                )
            }
            return VerifiedIDToken(fingerprint: token.fingerprint, claims: claims)
        } catch let rejection as TokenRejection {
            if rejection == .audience, namesAudiences, let named = ProviderToken.unverifiedAudience(of: request.idToken)
            {
                throw IdentityError.tokenAudience(named)
            }
            throw IdentityError.token(rejection)
        }
    }

    private func idTokenEvidence(
        _ request: IdentityV1.SignInRequest,
        _ provider: ProviderConfiguration,
        isForAct: Bool,
        _ context: ServerContext
    ) async throws -> Evidence {
        let token = try await verifiedToken(request, provider: provider, context: context)
        let code = request.authorizationCode
        var evidence = Evidence(
            fingerprint: token.fingerprint,
            claims: token.claims,
            proof: .nonce,
            fullName: request.fullName,
            email: request.email,
            toldOnceKeys: [token.fingerprint]
        )
        switch try token.claims.proofStep(hasCode: !code.isEmpty, isForAct: isForAct) {
        case .proven(let proof):
            evidence.proof = proof
            evidence.unexchangedCode = CodeGrant(
                provider: provider.policy.name,
                clientID: token.claims.audience,
                code: code,
                redirectURI: request.redirectUri,
                codeVerifier: request.codeVerifier
            )
        case .exchangeCode:
            do {
                try await prove(
                    &evidence,
                    code: code,
                    redirectURI: request.redirectUri,
                    codeVerifier: request.codeVerifier,
                    provider: provider,
                    context: context
                )
            } catch {
                // The token is the provider's, whatever became of the code.
                await keepTold(
                    SubmittedDetails(request),
                    key: token.fingerprint,
                    of: token.claims,
                    token: nil,
                    provider.policy,
                    context
                )
                throw error
            }
        }
        return evidence
    }

    private func ticketEvidence(
        _ request: IdentityV1.SignInRequest,
        _ provider: ProviderConfiguration,
        isForAct: Bool,
        _ context: ServerContext
    ) async throws -> Evidence? {
        let redeemable = try await redeemable(request, policy: provider.policy, deadline: context.deadline)
        guard let (grant, ticketHash) = redeemable else { return nil }
        var evidence = Evidence(
            fingerprint: grant.fingerprint,
            claims: grant.claims,
            proof: .nonce,
            fullName: request.fullName.isEmpty ? grant.fullName : request.fullName,
            email: request.email.isEmpty ? grant.email : request.email,
            toldOnceKeys: [grant.fingerprint]
        )
        switch try grant.claims.proofStep(hasCode: !grant.code.isEmpty, isForAct: isForAct) {
        case .proven(let proof):
            evidence.proof = proof
            evidence.unexchangedCode = CodeGrant(
                provider: provider.policy.name,
                clientID: grant.claims.audience,
                code: grant.code,
                redirectURI: grant.redirectURI,
                codeVerifier: ""
            )
        case .exchangeCode:
            try await prove(
                &evidence,
                code: grant.code,
                redirectURI: grant.redirectURI,
                codeVerifier: "",
                provider: provider,
                context: context
            )
        }
        evidence.ticketHash = ticketHash
        evidence.linkingSession = grant.linkingSession
        evidence.retryFingerprint = Self.fingerprint(ofTickets: request)
        return evidence
    }

    private func codeEvidence(
        _ request: IdentityV1.SignInRequest,
        provider: ProviderConfiguration,
        context: ServerContext
    ) async throws -> Evidence {
        let (code, clientID, policy) = (request.authorizationCode, request.clientID, provider.policy)
        try Self.checkMayLackNonce(clientID, policy)
        let toldKey = FirstSignInDetails.key(ofCode: code, clientID: clientID, provider: policy.name)
        do {
            let exchanged = try await exchange(
                code: code,
                clientID: clientID,
                redirectURI: request.redirectUri,
                codeVerifier: request.codeVerifier,
                provider: provider,
                context: context
            )
            var evidence = Evidence(
                fingerprint: exchanged.fingerprint,
                claims: exchanged.claims,
                proof: .code,
                fullName: request.fullName,
                email: request.email,
                toldOnceKeys: [toldKey, exchanged.fingerprint]
            )
            evidence.refreshToken = exchanged.refreshToken
            return evidence
        } catch IdentityError.providerUnavailable {
            await keepTold(SubmittedDetails(request), key: toldKey, of: nil, token: nil, policy, context)
            throw IdentityError.providerUnavailable
        }
    }

    /// Throws unless there is such an audience, and something without a nonce may sign in to it.
    private static func checkMayLackNonce(_ clientID: String, _ policy: ProviderPolicy) throws(IdentityError) {
        guard let audience = policy.audiences[clientID] else { throw .signIn(.clientUnknown) }
        if audience.nonce == .server { throw .signIn(.nonceRequired) }
    }

    private func accessTokenEvidence(
        _ request: IdentityV1.SignInRequest,
        provider: ProviderConfiguration,
        context: ServerContext
    ) async throws -> Evidence {
        let policy = provider.policy
        try Self.checkMayLackNonce(request.clientID, policy)
        guard let check = accessTokens[policy.name] else { throw IdentityError.signIn(.exchangeNotConfigured) }
        let known = try await check.claims(
            accessToken: request.accessToken,
            clientID: request.clientID,
            address: addressKey.code(of: context.metadata),
            deadline: context.deadline
        )
        return Evidence(
            fingerprint: known.fingerprint,
            claims: known.claims,
            proof: .accessToken,
            fullName: request.fullName,
            email: request.email,
            toldOnceKeys: []
        )
    }

    /// Exchanges the code that came with an ID token: it must name the same person. What the exchange brought is what buys a
    /// session, so that the code alone buys no second one.
    private func prove(
        _ evidence: inout Evidence,
        code: String,
        redirectURI: String,
        codeVerifier: String,
        provider: ProviderConfiguration,
        context: ServerContext
    ) async throws {
        let exchanged = try await exchange(
            code: code,
            clientID: evidence.claims.audience,
            redirectURI: redirectURI,
            codeVerifier: codeVerifier,
            provider: provider,
            context: context
        )
        guard exchanged.claims.subject == evidence.claims.subject else { throw IdentityError.signIn(.codeForeign) }
        evidence.retryFingerprint = evidence.fingerprint
        evidence.fingerprint = exchanged.fingerprint
        evidence.toldOnceKeys.append(exchanged.fingerprint)
        evidence.acceptedUntilSeconds = exchanged.claims.acceptedUntilSeconds
        evidence.proof = .code
        evidence.refreshToken = exchanged.refreshToken
    }

    private func exchange(
        code: String,
        clientID: String,
        redirectURI: String,
        codeVerifier: String,
        provider: ProviderConfiguration,
        context: ServerContext
    ) async throws -> ExchangedCode {
        guard let codes = codes[provider.policy.name] else { throw IdentityError.signIn(.exchangeNotConfigured) }
        let exchanged = try await codes.claims(
            code: code,
            clientID: clientID,
            redirectURI: redirectURI,
            codeVerifier: codeVerifier,
            address: addressKey.code(of: context.metadata),
            deadline: context.deadline
        )
        guard exchanged.claims.audience == clientID else { throw IdentityError.signIn(.codeForeign) }
        return exchanged
    }
}

extension SubmittedDetails {
    /// What comes with a sign-in.
    fileprivate init(_ request: IdentityV1.SignInRequest) {
        self.init(fullName: request.fullName, email: request.email, deviceName: request.deviceName)
    }
}
