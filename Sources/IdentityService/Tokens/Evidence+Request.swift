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
    func evidence(
        of request: IdentityV1.SignInRequest,
        _ kind: CredentialKind,
        provider: ProviderConfiguration,
        context: ServerContext
    ) async throws -> Evidence? {
        let evidence: Evidence?
        switch kind {
        case .idToken: evidence = try await idTokenEvidence(request, provider: provider, context: context)
        case .tickets: evidence = try await ticketEvidence(request, provider: provider, context: context)
        case .code: evidence = try await codeEvidence(request, provider: provider, context: context)
        case .accessToken: evidence = try await accessTokenEvidence(request, provider: provider, context: context)
        case .unproven: throw IdentityFault.signIn(.proofRequired)
        }
        if let evidence { try request.checkSubject(evidence.claims.subject) }
        return evidence
    }

    /// What a ticket's session is found by when the ticket itself is gone.
    static func fingerprint(ofTickets request: IdentityV1.SignInRequest) -> [UInt8] {
        SHA256.hash("vestibule tickets 1\0\(request.idToken)\0\(request.authorizationCode)\0\(request.codeVerifier)")
    }

    /// Verifies an ID token. If the provider's keys can't be had now, what was told with a plausible token is kept until it
    /// proves itself.
    func verifiedToken(
        _ request: IdentityV1.SignInRequest,
        provider: ProviderConfiguration,
        context: ServerContext
    ) async throws -> VerifiedIDToken {
        let policy = provider.policy
        let (nonce, code) = (request.nonce, request.authorizationCode)
        do {
            let token = try ProviderToken(parsing: request.idToken, policy: policy)
            let key: VerificationKey
            do {
                key = try await keys.key(id: token.keyID, algorithm: token.algorithm, of: policy.name)
            } catch {
                guard mayProveLater(error, provider: policy.name) else { throw error }
                try token.checkPlausible(policy: policy, nowSeconds: clock.nowSeconds, nonce: nonce, code: code)
                await keepTold(request, token.fingerprint, policy, context)
                throw error
            }
            let claims = try token.claims(
                verifiedWith: key,
                policy: policy,
                nowSeconds: clock.nowSeconds,
                nonce: nonce,
                code: code
            )
            guard request.clientID.isEmpty || request.clientID == claims.audience else { throw TokenRejection.audience }
            if claims.policy.nonce == .server {
                try nonces.check(
                    nonce,
                    provider: policy.name,
                    audience: claims.audience,
                    nowSeconds: clock.nowSeconds
                )
            }
            return VerifiedIDToken(fingerprint: token.fingerprint, claims: claims)
        } catch let rejection as TokenRejection {
            if rejection == .audience, namesAudiences, let named = ProviderToken.unverifiedAudience(of: request.idToken)
            {
                throw IdentityFault.tokenAudience(named)
            }
            throw IdentityFault.token(rejection)
        }
    }

    private func idTokenEvidence(
        _ request: IdentityV1.SignInRequest,
        provider: ProviderConfiguration,
        context: ServerContext
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
        switch try token.claims.proofStep(hasCode: !code.isEmpty) {
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
            } catch IdentityFault.providerUnavailable {
                await keepTold(request, token.fingerprint, provider.policy, context)
                throw IdentityFault.providerUnavailable
            }
        }
        return evidence
    }

    private func ticketEvidence(
        _ request: IdentityV1.SignInRequest,
        provider: ProviderConfiguration,
        context: ServerContext
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
        switch try grant.claims.proofStep(hasCode: !grant.code.isEmpty) {
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
        let toldKey = ToldOnce.key(ofCode: code, clientID: clientID, provider: policy.name)
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
        } catch IdentityFault.providerUnavailable {
            await keepTold(request, toldKey, policy, context)
            throw IdentityFault.providerUnavailable
        }
    }

    /// Throws unless there is such an audience, and something without a nonce may sign in to it.
    private static func checkMayLackNonce(_ clientID: String, _ policy: ProviderPolicy) throws(IdentityFault) {
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
        guard let check = accessTokens[policy.name] else { throw IdentityFault.signIn(.exchangeNotConfigured) }
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
        guard exchanged.claims.subject == evidence.claims.subject else { throw IdentityFault.signIn(.codeForeign) }
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
        guard let codes = codes[provider.policy.name] else { throw IdentityFault.signIn(.exchangeNotConfigured) }
        let exchanged = try await codes.claims(
            code: code,
            clientID: clientID,
            redirectURI: redirectURI,
            codeVerifier: codeVerifier,
            address: addressKey.code(of: context.metadata),
            deadline: context.deadline
        )
        guard exchanged.claims.audience == clientID else { throw IdentityFault.signIn(.codeForeign) }
        return exchanged
    }

    private func keepTold(
        _ request: IdentityV1.SignInRequest,
        _ key: [UInt8],
        _ provider: ProviderPolicy,
        _ context: ServerContext
    ) async {
        await keepTold(
            fullName: request.fullName,
            email: request.email,
            key: key,
            provider: provider,
            context: context
        )
    }
}
