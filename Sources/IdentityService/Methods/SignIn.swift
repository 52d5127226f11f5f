import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Turns a provider's ID token into a session.
    func signIn(
        _ request: IdentityV1.SignInRequest,
        context: ServerContext
    ) async throws -> IdentityV1.SignInResponse {
        let policy = ProviderName(request.provider).flatMap { providers[$0]?.policy }
        // A repetition within a minute gets the same session.
        return try await context.answer(mayBeRepeated: true) {
            do {
                let response = try await openSession(request, policy: policy, context: context)
                signIns.count(policy?.name, response.isNewUser ? .newAccount : .knownAccount)
                return response
            } catch {
                signIns.count(policy?.name, SignInMetrics.Outcome(error))
                throw error
            }
        }
    }

    private func openSession(
        _ request: IdentityV1.SignInRequest,
        policy: ProviderPolicy?,
        context: ServerContext
    ) async throws -> IdentityV1.SignInResponse {
        guard let policy else { throw IdentityFault.providerUnknown }
        let signIn = try await verify(request, policy: policy)
        let outcome = try await store.openSession(
            signIn,
            new: newSession(),
            nowMilliseconds: clock.nowMilliseconds,
            deadline: context.deadline
        )
        var response = IdentityV1.SignInResponse()
        response.tokens = try mint.tokens(of: outcome.session)
        response.isNewUser = outcome.isNewUser
        response.suggestedDisplayName = outcome.session.toldName ?? ""
        return response
    }

    /// Ids and the nonce of the session that may be opened now.
    private func newSession() -> NewSession {
        NewSession(
            userID: identifiers.make(),
            sessionID: identifiers.make(),
            nonce: randomBytes(RefreshToken.nonceByteCount)
        )
    }

    private func verify(_ request: IdentityV1.SignInRequest, policy: ProviderPolicy) async throws -> SignIn {
        do {
            let token = try ProviderToken(parsing: request.idToken, policy: policy)
            let key = try await keys.key(id: token.keyID, algorithm: token.algorithm, of: policy.name)
            let claims = try token.claims(
                verifiedWith: key,
                policy: policy,
                nowSeconds: clock.nowSeconds,
                nonce: request.nonce,
                code: request.authorizationCode
            )
            guard claims.nonceVerdict == .proven || claims.policy.withoutNonce == .fresh else {
                throw TokenRejection.nonce
            }
            return SignIn(
                fingerprint: token.fingerprint,
                provider: policy.name,
                claims: claims,
                fullName: request.fullName,
                email: request.email,
                deviceName: request.deviceName
            )
        } catch let rejection as TokenRejection {
            throw IdentityFault.token(rejection)
        }
    }
}
