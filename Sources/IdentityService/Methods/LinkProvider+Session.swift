import IdentityDomain
import RPC

extension IdentityMethods {
    /// Opens a session of the account that an identity was linked to, by the credentials that linked it, for apps that go on with the
    /// session of the answer. The same credentials open the account from now on anyway. A repetition within a minute gets the same one.
    ///
    /// - Throws: `accountNotFound` if the account was deleted meanwhile, or what a sign-in throws.
    func sessionAfterLinking(
        _ signIn: SignIn,
        new: NewSession,
        nowMilliseconds: Int64,
        _ context: ServerContext
    ) async throws -> StoredSession {
        try await store.openSession(
            signIn.afterLinking,
            new: new,
            nowMilliseconds: nowMilliseconds,
            deadline: context.deadline
        ).session
    }
}
