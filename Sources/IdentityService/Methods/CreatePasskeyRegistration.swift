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
            let made = try await passkeyOptions(
                passkeys,
                for: owner.userID,
                name: request.userName,
                deadline: context.deadline
            ) { .registration(owner.sessionID, handle: $0) }
            var response = IdentityV1.CreatePasskeyRegistrationResponse()
            response.options = made
            response.expiresInSeconds = Int32(PasskeyChallenges.lifetimeSeconds)
            return response
        }
    }

    /// The options of a new passkey of an account, as JSON text.
    ///
    /// - Parameters:
    ///   - name: what authenticators show; empty for the account's id.
    ///   - purpose: what the challenge is for, by the user handle.
    func passkeyOptions(
        _ settings: PasskeySettings,
        for userID: UserID,
        name: String,
        max passkeysMax: Int = PasskeySettings.countMax,
        deadline: Deadline?,
        _ purpose: (UserID) -> PasskeyChallenges.Purpose
    ) async throws -> String {
        let known = try await store.passkeys(of: userID, deadline: deadline)
        guard known.hasRoom(of: settings.relyingParty.id, max: passkeysMax) else {
            throw IdentityError.passkey(.tooMany)
        }
        let handle = try await store.passkeyHandle(of: userID, deadline: deadline)
        let shown = name.isEmpty ? userID.description : name
        guard let user = UserEntity(id: handle.bytes, name: shown, displayName: name) else {
            throw IdentityError.sessionInvalid
        }
        let options = settings.relyingParty.creationOptions(
            name: settings.name,
            user: user,
            challenge: newPasskeyChallenge(for: purpose(handle)),
            timeoutMilliseconds: Self.passkeyTimeoutMilliseconds,
            excluded: known.map { CredentialDescriptor(id: $0.credentialID, transports: $0.transports) },
            attestation: settings.attestation
        )
        return String(decoding: options, as: UTF8.self)
    }
}
