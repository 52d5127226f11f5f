import API
import IdentityDomain
import Models
import RPC
import ServiceKit
import WebAuthn

extension IdentityMethods {
    /// Adds a passkey to the caller's account.
    func addPasskey(
        _ request: IdentityV1.AddPasskeyRequest,
        context: ServerContext
    ) async throws -> IdentityV1.AddPasskeyResponse {
        // The same credential is added once.
        try await context.answer(mayBeRepeated: true) {
            guard let passkeys else { throw IdentityError.passkey(.notEnabled) }
            let owner = try await owner(request.accessToken, context)
            let name = request.name.isEmpty ? nil : try PasskeyName.check(request.name)
            let handle = try await store.passkeyHandle(of: owner.userID, deadline: context.deadline)
            let passkey = try await store.addPasskey(
                newPasskey(request.credential, for: .registration(owner.sessionID, handle: handle), by: passkeys),
                id: identifiers.make(PasskeyID.self),
                name: name,
                for: passkeys.relyingParty.id,
                under: handle,
                by: .session(LinkingSession(userID: owner.userID, sessionID: owner.sessionID)),
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = IdentityV1.AddPasskeyResponse()
            response.passkey = IdentityV1.Passkey(passkey)
            return response
        }
    }

    /// Verifies a credential that answers a challenge.
    func newPasskey(
        _ credential: String,
        for purpose: PasskeyChallenges.Purpose,
        by settings: PasskeySettings
    ) throws(IdentityError) -> NewPasskey {
        let answer: RegistrationResponse
        do throws(WebAuthnError) {
            answer = try RegistrationResponse(parsing: credential.utf8)
        } catch {
            throw .passkey(.malformed)
        }
        guard let challenge = answer.claimedChallenge else { throw .passkey(.malformed) }
        _ = try passkeyChallenges.check(challenge, for: purpose, nowSeconds: clock.nowSeconds)
        do throws(WebAuthnError) {
            return try settings.relyingParty.register(
                answer,
                challenge: challenge,
                attestation: settings.attestation,
                now: Int(clock.nowSeconds)
            )
        } catch {
            throw .passkey(.rejected)
        }
    }
}

/// What a user calls a passkey.
enum PasskeyName {
    /// The name, trimmed.
    ///
    /// - Throws: `IdentityError.passkey(.nameInvalid)` if it cannot be shown.
    static func check(_ text: String) throws(IdentityError) -> String {
        do throws(TextError) {
            return try DisplayName(text).value
        } catch {
            throw .passkey(.nameInvalid(error))
        }
    }
}
