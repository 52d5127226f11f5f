import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Turns what a provider gave the app into a session: tells what was presented, verifies it, finds what proves it, and
    /// stores all of it at once.
    func signIn(
        _ request: IdentityV1.SignInRequest,
        context: ServerContext
    ) async throws -> IdentityV1.SignInResponse {
        let provider = ProviderName(request.provider).flatMap { providers[$0] }
        let name = provider?.policy.name
        // A repetition within a minute gets the same session. Without proof nothing tells it from another person.
        return try await context.answer(mayBeRepeated: !request.hasUnproven) {
            do {
                let outcome = try await session(request, provider: provider, context: context)
                var response = IdentityV1.SignInResponse()
                response.tokens = try tokens(of: outcome.session, style: request.tokenStyle, context)
                response.isNewUser = outcome.isNewUser
                response.suggestedDisplayName = outcome.session.toldName ?? ""
                response.proof = IdentityV1.Proof(outcome.proof)
                if let proofs = callerProofs(of: outcome.session, for: context) { response.callerProofs = proofs }
                signIns.count(name, outcome.isNewUser ? .newAccount(outcome.proof) : .knownAccount(outcome.proof))
                return response
            } catch {
                signIns.count(name, SignInMetrics.Outcome(error))
                throw error
            }
        }
    }

    private func session(
        _ request: IdentityV1.SignInRequest,
        provider: ProviderConfiguration?,
        context: ServerContext
    ) async throws -> SignInOutcome {
        guard let provider else { throw IdentityError.providerUnknown }
        let kind = try CredentialKind(request)
        let reservation = try EmailReservation(request)
        if kind == .unproven {
            return try await unprovenSession(request, provider: provider, reservation: reservation, context: context)
        }
        guard let evidence = try await evidence(of: request, kind, provider: provider, context: context) else {
            return try await store.sessionBoughtByTickets(
                Self.fingerprint(ofTickets: request),
                expectedSubject: request.expectedSubject,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
        }
        let now = clock.nowMilliseconds
        let signIn = SignIn(
            evidence,
            provider: provider.policy.name,
            deviceName: request.deviceName,
            createsAccount: request.createsAccount,
            nowSeconds: now / 1000,
            leewaySeconds: provider.policy.clockLeewaySeconds
        )
        do {
            let first = try await store.openSession(
                signIn,
                new: newSession(of: signIn, request, context),
                phone: SignInPhone(signIn, eventID: identifiers.make(), keys: phoneKeys),
                reservation: reservation?.proven(by: evidence.claims),
                nowMilliseconds: now,
                deadline: context.deadline
            )
            var outcome = try await outcomeOfProof(first, signIn, nowMilliseconds: now, context)
            await grants.take(
                evidence,
                of: outcome.session.facts.userID,
                provider: provider.policy.name,
                address: addressKey.code(of: context.metadata),
                nowMilliseconds: now
            )
            signIns.countPerson(signIn)
            if outcome.isNewUser, outcome.session.toldName == nil {
                outcome.session.toldName = await nameToldBefore(
                    signIn,
                    isInBrowser: kind == .tickets,
                    userID: outcome.session.facts.userID,
                    policy: provider.policy,
                    context: context
                )
            }
            return outcome
        } catch IdentityError.token(.replayed) where kind == .code {
            throw IdentityError.signIn(.codeSpent)
        }
    }

    private func unprovenSession(
        _ request: IdentityV1.SignInRequest,
        provider: ProviderConfiguration,
        reservation: EmailReservation?,
        context: ServerContext
    ) async throws -> SignInOutcome {
        let signIn = try UnprovenSignIn(request, provider: provider.policy, allowed: unprovenDialects)
        // Access tokens are good without asking anybody, and so in every dialect.
        guard SingleTokenStyle(request.tokenStyle) != nil else { throw IdentityError.signIn(.proofRequired) }
        let now = clock.nowMilliseconds
        guard request.createsAccount else {
            return try await store.openUnproven(
                signIn,
                new: newSession(context, style: request.tokenStyle),
                nowMilliseconds: now,
                deadline: context.deadline
            )
        }
        return try await store.registerUnproven(
            signIn,
            new: newSession(context, style: request.tokenStyle),
            reservation: reservation,
            nowMilliseconds: now,
            deadline: context.deadline
        )
    }
}
