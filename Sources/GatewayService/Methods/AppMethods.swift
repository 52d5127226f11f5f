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
