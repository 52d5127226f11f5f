import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension OAuthMethods {
    /// Answers a request of the authorization endpoint with a code, an error, or what a page needs to have the user sign in. Nothing is
    /// stored but a code, and that only for a user who is signed in.
    func authorize(
        _ request: IdentityV1.AuthorizeRequest,
        context: ServerContext
    ) async throws -> IdentityV1.AuthorizeResponse {
        // The same request again gets another code; the one before stays valid.
        try await context.answer(mayBeRepeated: true) {
            var response = IdentityV1.AuthorizeResponse()
            let accepted: AuthorizationRequest
            do throws(AuthorizationRequest.Rejection) {
                accepted = try read(request)
            } catch {
                switch error {
                case .page(let failure): response.failure = .init(failure)
                case .client(let failure, let target): response.answer = answer(failure, to: target)
                }
                return response
            }
            if request.isCancelled {
                let failure = OAuthFailure(.accessDenied, "The user cancelled.")
                response.answer = answer(failure, to: accepted.target)
                return response
            }
            let now = identity.clock.nowMilliseconds
            let session = try await browserSession(request.browserToken, deadline: context.deadline)
            let isAnothers = session.map { accepted.hintedUserID ?? $0.userID != $0.userID } ?? false
            let signedInAt = session?.signedInAtMilliseconds ?? 0
            if isAnothers, signedInAt >= accepted.madeAtMilliseconds {
                // Signed in for this request, as somebody else (OpenID Connect Core section 3.1.2.2).
                let failure = OAuthFailure(.loginRequired, "Another user than that of the id_token_hint signed in.")
                response.answer = answer(failure, to: accepted.target)
            } else if let session, !isAnothers,
                accepted.admits(
                    signInAtMilliseconds: session.signedInAtMilliseconds,
                    context: AuthenticationContext(session.facts.proof),
                    nowMilliseconds: now
                )
            {
                response = try await answer(
                    accepted,
                    profile: request.profile,
                    of: session,
                    deadline: context.deadline
                )
            } else if accepted.prompt == AuthorizationRequest.Prompt.none {
                let failure = OAuthFailure(.loginRequired, "The user is not signed in, or not recently enough.")
                response.answer = answer(failure, to: accepted.target)
            } else if let page = signInPage(accepted) {
                response.signIn = page
            } else {
                let failure = OAuthFailure(.invalidRequest, "The request is too long.")
                response.answer = answer(failure, to: accepted.target)
            }
            return response
        }
    }

    /// The session of a browser's cookie; nil for none, and for one that has ended.
    func browserSession(_ token: String, deadline: Deadline?) async throws -> BrowserSession? {
        guard !token.isEmpty, let claims = try? identity.mint.browserTokens.verifiedClaims(token),
            identity.clock.nowSeconds < claims.expiresAtSeconds
        else { return nil }
        return try await identity.store.browserSession(
            of: claims,
            nowMilliseconds: identity.clock.nowMilliseconds,
            deadline: deadline
        )
    }

    private func read(
        _ request: IdentityV1.AuthorizeRequest
    ) throws(AuthorizationRequest.Rejection) -> AuthorizationRequest {
        let keys = identity.ownKeys.current.authorizationRequests
        let now = identity.clock.nowMilliseconds
        if !request.request.isEmpty {
            guard let accepted = keys.open(request.request, for: .page, nowMilliseconds: now) else {
                let text = "This sign-in took too long. Go back to the app and try again."
                throw .page(OAuthFailure(.invalidRequest, text, reason: .requestExpired))
            }
            return try stillAccepted(accepted)
        }
        let parameters = Self.parameters(request.parameters)
        let pushed = parameters.filter { $0.name == "request_uri" }
        if pushed.count == 1, pushed[0].value.hasPrefix(AuthorizationRequestKeys.requestURIPrefix) {
            let text = String(pushed[0].value.dropFirst(AuthorizationRequestKeys.requestURIPrefix.count))
            let named = parameters.filter { $0.name == "client_id" }.map(\.value)
            guard let accepted = keys.open(text, for: .pushed, nowMilliseconds: now), named == [accepted.clientID]
            else {
                let text = "The pushed request is unknown, or has expired."
                throw .page(OAuthFailure(.invalidRequestURI, text, reason: .requestExpired))
            }
            return try stillAccepted(accepted)
        }
        return try checked(parameters)
    }

    /// A request of these parameters, with the user of its `id_token_hint`.
    func checked(
        _ parameters: [(name: String, value: String)]
    ) throws(AuthorizationRequest.Rejection) -> AuthorizationRequest {
        let now = identity.clock.nowMilliseconds
        var request = try AuthorizationRequest(parameters, clients: clients, nowMilliseconds: now)
        // A wish that can't be granted must not have the user sign in again and again.
        if identity.passkeys == nil { request.contexts.removeAll { $0 == .passkey } }
        let hints = parameters.filter { $0.name == "id_token_hint" && !$0.value.isEmpty }
        guard let hint = hints.first else { return request }
        guard hints.count == 1, let hinted = identity.issuer.hintedSession(hint.value) else {
            let failure = OAuthFailure(.invalidRequest, "The id_token_hint is no ID token of ours.")
            throw .client(failure, request.target)
        }
        request.hintedUserID = hinted.userID
        return request
    }

    /// A sealed request, unless its client was switched off, or it or the redirect URI was taken out of the file meanwhile.
    private func stillAccepted(
        _ request: AuthorizationRequest
    ) throws(AuthorizationRequest.Rejection) -> AuthorizationRequest {
        guard let client = clients[request.clientID],
            client.redirectURIs.contains(where: { $0.admits(request.redirectURI) })
        else {
            throw .page(OAuthFailure(.invalidClient, "The client is not configured any more.", reason: .clientUnknown))
        }
        if client.isDisabled {
            throw .page(OAuthFailure(.unauthorizedClient, "The client is switched off.", reason: .clientDisabled))
        }
        return request
    }

    /// What a signed-in user's request gets: a code, unless the client requires fields of the profile that may not be there.
    private func answer(
        _ request: AuthorizationRequest,
        profile: IdentityV1.ProfileState,
        of session: BrowserSession,
        deadline: Deadline?
    ) async throws -> IdentityV1.AuthorizeResponse {
        var response = IdentityV1.AuthorizeResponse()
        let fields = clients[request.clientID]?.requiredFields ?? []
        if fields.isEmpty || profile == .complete {
            response.answer = try await answerWithCode(request, of: session, deadline: deadline)
        } else if profile == .incomplete {
            let failure = OAuthFailure(.interactionRequired, "The user has to complete the profile.")
            response.answer = answer(failure, to: request.target)
        } else if let page = signInPage(request) {
            response.completeProfile.request = page.request
            response.completeProfile.fields = fields
            response.completeProfile.isSilent = request.prompt == AuthorizationRequest.Prompt.none
            response.completeProfile.page = page
        } else {
            let failure = OAuthFailure(.invalidRequest, "The request is too long.")
            response.answer = answer(failure, to: request.target)
        }
        return response
    }

    private func answerWithCode(
        _ request: AuthorizationRequest,
        of session: BrowserSession,
        deadline: Deadline?
    ) async throws -> IdentityV1.ClientAnswer {
        let code = AuthorizationCode(randomBytes: identity.randomBytes)
        let isKept = try await identity.store.keep(
            code,
            for: request,
            of: session,
            nowMilliseconds: identity.clock.nowMilliseconds,
            deadline: deadline
        )
        guard isKept else {
            return answer(OAuthFailure(.temporarilyUnavailable, "There are too many codes."), to: request.target)
        }
        return answer([IdentityV1.OAuthParameter("code", code.text)], to: request.target)
    }

    private func signInPage(_ request: AuthorizationRequest) -> IdentityV1.SignInPage? {
        guard let sealed = identity.ownKeys.current.authorizationRequests.seal(request, for: .page),
            let client = clients[request.clientID]
        else { return nil }
        var page = identity.signInPage
        page.request = sealed
        page.clientName = client.name
        if let provider = request.provider, page.providers.contains(provider) { page.provider = provider }
        page.languages = request.languages ?? ""
        page.clientLogoUri = client.logoURI ?? ""
        page.clientColor = client.color ?? ""
        return page
    }

    private func answer(_ failure: OAuthFailure, to target: AuthorizationRequest.Target) -> IdentityV1.ClientAnswer {
        answer(
            [
                IdentityV1.OAuthParameter("error", failure.word.rawValue),
                IdentityV1.OAuthParameter("error_description", failure.description),
            ],
            to: target
        )
    }

    private func answer(
        _ parameters: [IdentityV1.OAuthParameter],
        to target: AuthorizationRequest.Target
    ) -> IdentityV1.ClientAnswer {
        var answer = IdentityV1.ClientAnswer()
        answer.redirectUri = target.redirectURI
        answer.responseMode = target.responseMode.rawValue
        answer.parameters = parameters
        if let state = target.state { answer.parameters.append(IdentityV1.OAuthParameter("state", state)) }
        answer.parameters.append(IdentityV1.OAuthParameter("iss", issuer))
        return answer
    }

    static func parameters(_ parameters: [IdentityV1.OAuthParameter]) -> [(name: String, value: String)] {
        parameters.map { ($0.name, $0.value) }
    }
}

extension IdentityMethods {
    /// A sign-in page with what users can sign in with alone: the providers of ``browserProviders``, and passkeys where they are on.
    var signInPage: IdentityV1.SignInPage {
        var page = IdentityV1.SignInPage()
        let providers = browserProviders
        page.providers = providers.map(\.policy.name.value)
        page.providerNames = providers.map { $0.displayName ?? "" }
        page.passkeysEnabled = passkeys != nil
        return page
    }

    /// The providers that a browser can sign in with: those with a page and exactly one client for browsers.
    fileprivate var browserProviders: [ProviderConfiguration] {
        providers.values.filter { provider in
            provider.endpoints.authorizationURL != nil
                && provider.policy.audiences.values.count { $0.kind != .native } == 1
        }.sorted { $0.policy.name.value < $1.policy.name.value }
    }
}
