import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Deletes the account of a token that lets somebody in now, by credentials or by a session whose sign-in is proven and recent; a
    /// session that is proven by less has the deletion scheduled. A token of an account that is deleted gets the same answer: the one
    /// before may have been lost.
    func deleteAccount(
        _ request: IdentityV1.DeleteAccountRequest,
        context: ServerContext
    ) async throws -> IdentityV1.DeleteAccountResponse {
        try await context.answer {
            do {
                return try await deleteOrSchedule(request, context)
            } catch {
                // The same call may have deleted it before, or at any moment of this one: then session, identity and credentials are
                // gone.
                let session = try? session(of: .accessToken(request.accessToken), mustBeCurrent: true, context)
                guard let userID = session?.userID,
                    let closing = try await store.deletion(of: userID, deadline: context.deadline)
                else { throw error }
                return .init(closing, of: userID)
            }
        }
    }

    private func deleteOrSchedule(
        _ request: IdentityV1.DeleteAccountRequest,
        _ context: ServerContext
    ) async throws -> IdentityV1.DeleteAccountResponse {
        let owner = try await owner(request.accessToken, context)
        if request.hasCredentials {
            return .init(try await delete(owner, by: request.credentials, context), of: owner.userID)
        }
        do {
            let session = DeletingSession(sessionID: owner.sessionID, credentials: nil)
            return .init(
                try await close(owner.userID, why: .deleted, ground: .session(session), context),
                of: owner.userID
            )
        } catch IdentityError.signInInsufficient(.unproven, _) {
            let scheduled = try await store.scheduleDeletion(
                of: owner.userID,
                by: owner.sessionID,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            if scheduled.isNew { deletions.count(.scheduled) }
            var response = IdentityV1.DeleteAccountResponse()
            response.deletesAtMs = scheduled.deletesAtMilliseconds
            return response
        }
    }

    /// Closes an account, and has all told whom it concerns.
    @discardableResult func close(
        _ userID: UserID,
        why: ClosingReason,
        ground: ClosingGround,
        _ context: ServerContext
    ) async throws -> AccountClosing {
        let closing = try await store.closeAccount(
            userID,
            why: why,
            ground: ground,
            eventIDs: (identifiers.make(), identifiers.make()),
            nowMilliseconds: clock.nowMilliseconds,
            deadline: context.deadline
        )
        if closing.isNew {
            revocations.announce()
            accountClosed()
        }
        return closing
    }

    /// Deletes an account by credentials of a provider, which a thief of the session's token doesn't have. What the provider grants for
    /// a code among them is kept before the deletion, which has it revoked; without it the person withdraws their consent themselves.
    private func delete(
        _ owner: (userID: UserID, sessionID: SessionID, isGuest: Bool),
        by request: IdentityV1.SignInRequest,
        _ context: ServerContext
    ) async throws -> AccountClosing {
        guard let provider = ProviderName(request.provider).flatMap({ providers[$0] }) else {
            throw IdentityError.providerUnknown
        }
        let name = provider.policy.name
        let kind = try CredentialKind(request)
        let found = try await evidence(of: request, kind, provider: provider, isForAct: true, context: context)
        guard let evidence = found else { throw IdentityError.signIn(.ticketInvalid) }
        let now = clock.nowMilliseconds
        let refusal = AccountAct.deleteAccount.refusal(
            proof: evidence.proof,
            signedInMilliseconds: evidence.claims.issuedAtSeconds * 1000,
            nowMilliseconds: now,
            recentSeconds: store.limits.deletionSignInSeconds
        )
        if let refusal { throw IdentityError(refusal, recentSeconds: store.limits.deletionSignInSeconds) }
        let credentials = SignIn(
            evidence,
            provider: name,
            deviceName: "",
            createsAccount: true,
            nowSeconds: now / 1000,
            leewaySeconds: provider.policy.clockLeewaySeconds
        )
        do {
            // A person whom Apple has moved to another team, and who isn't imported yet, is found by their identity from before.
            try await store.moveSubject(of: credentials, nowMilliseconds: now, deadline: context.deadline)
            // Before anything is kept of what may be somebody else's.
            guard try await store.isIdentity(credentials, of: owner.userID, deadline: context.deadline) else {
                throw IdentityError.credentialsForeign
            }
            await grants.takeBeforeDeletion(
                evidence,
                of: owner.userID,
                provider: name,
                address: addressKey.code(of: context.metadata),
                nowMilliseconds: now
            )
            let session = DeletingSession(sessionID: owner.sessionID, credentials: credentials)
            return try await close(owner.userID, why: .deleted, ground: .session(session), context)
        } catch IdentityError.token(.replayed) where kind == .code {
            throw IdentityError.signIn(.codeSpent)
        }
    }
}

extension IdentityV1.DeleteAccountResponse {
    fileprivate init(_ closing: AccountClosing, of userID: UserID?) {
        self.init()
        self.userID = userID?.description ?? ""
        consentsLeft = closing.consentsLeft
    }
}
