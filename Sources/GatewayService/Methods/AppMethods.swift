import API
import Logging
import RPC

/// What apps may ask (`vestibule.app.v1`), one method a file. A JSON route makes the same message of its body and calls the same
/// method; none of them knows what brought the request.
struct AppMethods: Sendable {
    /// How long profile may take to say what is missing.
    static let profileWait = Duration.seconds(2)

    let identity: IdentityServiceClient
    let profile: ProfileServiceClient
    let groups: GroupServiceClient
    let keySet: KeySetCache
    let authentication: Authentication
    let memberNames: MemberNames
    let avatars: AvatarAddress
    let watches: GroupWatches

    /// Has identity end sessions. When it returns, this gateway lets none of them in.
    func endSessions(_ request: IdentityV1.SignOutRequest, options: CallOptions) async throws(RPCError) {
        let ended = try await identity.signOut(request, options: options)
        watches.changes.note(sessions: [ended.sessionID], users: [ended.userID])
    }

    /// Has identity link a provider. When it returns, this gateway knows of the session that ended with it, and asks about the others.
    func link(
        _ request: IdentityV1.LinkProviderRequest,
        options: CallOptions
    ) async throws(RPCError) -> IdentityV1.LinkProviderResponse {
        let linked = try await identity.linkProvider(request, options: options)
        watches.changes.note(sessions: [linked.endedSessionID], users: [linked.account.userID])
        return linked
    }

    /// Has identity take a provider from a user's account. When it returns, this gateway asks about the user's sessions.
    func unlink(
        _ request: IdentityV1.UnlinkProviderRequest,
        of user: SignedInUser,
        options: CallOptions
    ) async throws(RPCError) {
        _ = try await identity.unlinkProvider(request, options: options)
        watches.changes.note(users: [user.userID])
    }

    /// What GroupService is called with: the user's proof, and for changes the client's address, which invites limits over all
    /// replicas.
    func groupOptions(_ user: SignedInUser) -> CallOptions {
        let options =
            user.isChange ? authentication.callOptionsWithAddress(user.caller) : user.caller.callOptions()
        return options.proving(user.proofs.invites)
    }

    /// What the profile of a user whose session was opened just now still lacks; nil if profile can't tell soon.
    ///
    /// The session exists by then and its tokens are sent only once, so a profile service that is down must not lose them.
    func missingFields(_ proofs: IdentityV1.CallerProofs, _ caller: Caller) async -> [String]? {
        do {
            let options = caller.callOptions(limit: Self.profileWait).proving(proofs.profile)
            return try await profile.getProfile(.init(), options: options).profile.missingFields
        } catch {
            caller.logger.warning("missing fields are unknown", metadata: ["rpc_code": "\(error.code)"])
            return nil
        }
    }
}
