import API
import IdentityDomain
import Models
import RPC
import ServiceKit
import WebAuthn

extension IdentityMethods {
    /// Makes a challenge for a new passkey of the caller's account. Whether the sign-in is recent and proven is judged now already: the
    /// user shouldn't make a passkey that is refused then.
    func createPasskeyRegistration(
        _ request: IdentityV1.CreatePasskeyRegistrationRequest,
        context: ServerContext
    ) async throws -> IdentityV1.CreatePasskeyRegistrationResponse {
        try await context.answer(mayBeRepeated: true) {
            guard let passkeys else { throw IdentityError.passkey(.notEnabled) }
            let owner = try await owner(request.accessToken, context)
            try await store.checkMayAddPasskey(
                LinkingSession(userID: owner.userID, sessionID: owner.sessionID),
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            let known = try await store.passkeys(of: owner.userID, deadline: context.deadline)
            guard known.count < PasskeySettings.countMax else { throw IdentityError.passkey(.tooMany) }
            let handle = try await store.passkeyHandle(of: owner.userID, deadline: context.deadline)
            let name = request.userName.isEmpty ? owner.userID.description : request.userName
            guard let user = UserEntity(id: handle.bytes, name: name, displayName: request.userName) else {
                throw IdentityError.sessionInvalid
            }
            let options = passkeys.relyingParty.creationOptions(
                name: passkeys.name,
                user: user,
                challenge: newPasskeyChallenge(for: .registration(owner.sessionID, handle: handle)),
                timeoutMilliseconds: Self.passkeyTimeoutMilliseconds,
                excluded: known.map { CredentialDescriptor(id: $0.credentialID, transports: $0.transports) }
            )
            var response = IdentityV1.CreatePasskeyRegistrationResponse()
            response.options = String(decoding: options, as: UTF8.self)
            response.expiresInSeconds = Int32(PasskeyChallenges.lifetimeSeconds)
            return response
        }
    }
}
