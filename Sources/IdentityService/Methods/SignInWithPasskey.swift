import API
import IdentityDomain
import Models
import RPC
import ServiceKit
import WebAuthn

extension IdentityMethods {
    /// Opens a session by a passkey. The order is that of what it costs us: the form, the challenge's code, one read, the signature.
    func signInWithPasskey(
        _ request: IdentityV1.SignInWithPasskeyRequest,
        context: ServerContext
    ) async throws -> IdentityV1.SignInWithPasskeyResponse {
        // A repetition within a minute gets the same session.
        try await context.answer(mayBeRepeated: true) {
            do {
                let session = try await passkeySession(request, context)
                var response = IdentityV1.SignInWithPasskeyResponse()
                response.tokens = try tokens(of: session, style: request.tokenStyle, context)
                if let proofs = callerProofs(of: session, for: context) { response.callerProofs = proofs }
                signIns.count(.passkey, .knownAccount(.passkey))
                return response
            } catch {
                signIns.count(.passkey, SignInMetrics.Outcome(error))
                throw error
            }
        }
    }

    private func passkeySession(
        _ request: IdentityV1.SignInWithPasskeyRequest,
        _ context: ServerContext
    ) async throws -> StoredSession {
        guard let party = passkeys?.relyingParty else { throw IdentityError.passkey(.notEnabled) }
        let answer: AuthenticationResponse
        do throws(WebAuthnError) {
            answer = try AuthenticationResponse(parsing: request.credential.utf8)
        } catch {
            throw IdentityError.passkey(.malformed)
        }
        let challenge = try passkeyChallenge(of: answer)
        // The user handle is the id of the account that the passkey was first added to. Without one it is no passkey of ours.
        guard let handle = answer.userHandle, let subject = UserID(bytes: handle)?.description else {
            throw IdentityError.passkey(.invalid)
        }
        let passkey = try await store.passkey(
            answer.credentialID,
            of: subject,
            for: party.id,
            deadline: context.deadline
        )
        guard let passkey else { throw IdentityError.passkey(.unknown) }
        let assertion: PasskeyAssertion
        do throws(WebAuthnError) {
            assertion = try party.verify(answer, challenge: challenge.bytes, passkey: passkey.stored)
        } catch {
            throw IdentityError.passkey(.invalid)
        }
        let signIn = SignIn(
            passkey: passkey.id,
            of: subject,
            relyingParty: party.id,
            challenge: challenge.spent,
            deviceName: request.deviceName
        )
        return try await openSession(signIn, answer.credentialID, assertion, context)
    }

    /// What a sign-in answers, if it is a challenge of ours.
    private func passkeyChallenge(
        of answer: AuthenticationResponse
    ) throws(IdentityError) -> (bytes: [UInt8], spent: SpentChallenge) {
        guard let bytes = answer.claimedChallenge else { throw .passkey(.malformed) }
        do throws(IdentityError) {
            return (bytes, try passkeyChallenges.check(bytes, for: .signIn, nowSeconds: clock.nowSeconds))
        } catch .passkey(.challengeUnknown) {
            throw .passkey(.invalid)
        }
    }

    /// Opens the session of a passkey whose signature is verified. A passkey that is removed at the same moment opens none: either the
    /// removal finds the session, which has the passkey's id, or the passkey isn't found when its use is noted, and the session ends.
    private func openSession(
        _ signIn: SignIn,
        _ credentialID: [UInt8],
        _ assertion: PasskeyAssertion,
        _ context: ServerContext
    ) async throws -> StoredSession {
        let now = clock.nowMilliseconds
        let session: StoredSession
        do {
            session = try await store.openSession(
                signIn,
                new: newSession(context),
                nowMilliseconds: now,
                deadline: context.deadline
            ).session
        } catch IdentityError.accountNotFound {
            throw IdentityError.passkey(.unknown)
        }
        let isThere = try await store.notePasskeyUse(
            credentialID,
            of: signIn.subject,
            assertion,
            nowMilliseconds: now,
            deadline: context.deadline
        )
        guard isThere else {
            try await store.undo(
                signIn,
                session.facts.sessionID,
                nowMilliseconds: now,
                deadline: context.deadline
            )
            throw IdentityError.passkey(.unknown)
        }
        return session
    }
}
