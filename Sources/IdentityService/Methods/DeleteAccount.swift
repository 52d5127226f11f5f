import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Deletes the account of a token that lets somebody in now, by a session that was opened a moment ago. A token of an account
    /// that is deleted gets the same answer: the one before may have been lost.
    func deleteAccount(
        _ request: IdentityV1.DeleteAccountRequest,
        context: ServerContext
    ) async throws -> IdentityV1.DeleteAccountResponse {
        try await context.answer {
            let owner: (userID: UserID, sessionID: SessionID)
            do {
                owner = try await self.owner(request.accessToken, context)
            } catch let error as RPCError {
                guard let closing = try await deletion(of: request.accessToken, context) else { throw error }
                return .init(closing)
            }
            let age = store.limits.deletionSignInSeconds
            let now = clock.nowMilliseconds
            let session = DeletingSession(
                sessionID: owner.sessionID,
                openedFromMilliseconds: age == 0 ? 0 : now - age * 1000
            )
            return .init(try await close(owner.userID, why: .deleted, session: session, context))
        }
    }

    /// Closes an account, and has all told whom it concerns.
    @discardableResult func close(
        _ userID: UserID,
        why: ClosingReason,
        session: DeletingSession?,
        _ context: ServerContext
    ) async throws -> AccountClosing {
        let closing = try await store.closeAccount(
            userID,
            why: why,
            session: session,
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

    /// What the deletion of a token's account came to; nil if the token is not ours, or not of this time, or its account was not
    /// deleted.
    private func deletion(of accessToken: String, _ context: ServerContext) async throws -> AccountClosing? {
        let session = try? session(of: .accessToken(accessToken), mustBeCurrent: true)
        guard let userID = session?.userID else { return nil }
        return try await store.deletion(of: userID, deadline: context.deadline)
    }
}

extension IdentityV1.DeleteAccountResponse {
    fileprivate init(_ closing: AccountClosing) {
        self.init()
        consentsLeft = closing.consentsLeft
    }
}
