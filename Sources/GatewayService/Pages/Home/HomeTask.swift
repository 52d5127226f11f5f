/// What somebody wants to do: the sections of ``HomePage``.
enum HomeTask: String, CaseIterable, Sendable {
    case signIn = "sign-in"
    case profile
    case phone
    case groups
    case invitations
    case sessions
    case linking
    case deletion
    case watching
    case openID = "openid"
    case servers
    case dialects

    var title: String {
        switch self {
        case .signIn: "Sign in"
        case .profile: "Profile"
        case .phone: "Phone number"
        case .groups: "Groups"
        case .invitations: "Invitations"
        case .sessions: "Sessions"
        case .linking: "Linked providers"
        case .deletion: "Deletion"
        case .watching: "Watching"
        case .openID: "OpenID Connect"
        case .servers: "For servers"
        case .dialects: "Other dialects"
        }
    }

    var text: String {
        switch self {
        case .signIn:
            "An app signs the user in with the provider's SDK and sends what it got. Here the simulator takes the provider's place."
        case .profile: "What the user says about themselves, and what is still missing."
        case .phone:
            "A typed number is saved with UpdateMe. A number that your backend has verified comes with its assertion."
        case .groups: "A group can wait for a phone number: its owner becomes a member when they save it."
        case .invitations: "What waits for the user, links to join by, requests to join, and people who may not invite."
        case .sessions: "Tokens that rotate, the devices that are signed in, and signing out."
        case .linking: "Other ways into the same account."
        case .deletion: "It needs a fresh sign-in of a provider that is linked."
        case .watching:
            "Changes of the user's groups as server-sent events. Start it here and change something as somebody else."
        case .openID: "Apps on any platform sign in by a page of this gateway, with a standard library."
        case .servers: "Keys, tokens of others, the providers' notices, health, and the description of all routes."
        case .dialects: "Routes as other backends have them, for apps that move here unchanged."
        }
    }

    /// The task of an operation, by its id.
    static func of(_ id: String) -> HomeTask { tasks[id] ?? .dialects }

    /// Every operation of the gateway's own.
    static let tasks: [String: HomeTask] = {
        let ids: [HomeTask: [String]] = [
            .signIn: [
                "signInWithApple", "signInWithGoogle", "signInWithProvider", "createChallenge", "beginAppleByWeb",
                "finishAppleByWeb", "createGuestChallenge", "signInAsGuest",
                "createPasskeyChallenge", "signInWithPasskey", "createRecoveryChallenge", "recoverAccount",
            ],
            .profile: ["getMe", "updateMe", "checkUsername", "setAvatar", "deleteAvatar", "getAvatar"],
            .phone: ["provePhone"],
            .groups: [
                "createGroup", "listGroups", "getGroup", "updateGroup", "addMember", "addMembers", "listMembers",
                "setMemberRole",
                "removeMember", "leaveGroup", "handOverGroup", "deleteGroup",
            ],
            .invitations: [
                "listMyInvitations", "acceptInvitation", "declineInvitation", "createGroupLink", "listGroupLinks",
                "previewGroupLink",
                "joinByLink", "revokeGroupLink", "listPending", "confirmMember", "blockInviter", "listBlockedInviters",
                "unblockInviter",
            ],
            .sessions: [
                "refreshSession", "listSessions", "renameSession", "endSession", "signOut", "signOutEverywhere",
            ],
            .linking: [
                "listProviders", "linkProvider", "unlinkProvider", "absorbGuest", "createPasskeyRegistration",
                "addPasskey", "listPasskeys", "renamePasskey", "removePasskey", "createRecoveryCodes",
                "getRecoveryCodes",
            ],
            .deletion: ["deleteMe", "cancelDeletion"],
            .watching: ["watchGroups"],
            .openID: ["getOpenIDConfiguration"],
            .servers: [
                "getKeySet", "getServerMetadata", "introspectToken", "getAppleAppSiteAssociation",
                "getAssetLinks", "getRelatedOrigins", "receiveAppleNotice", "receiveGoogleNotice",
                "getLiveness",
                "getReadiness", "getDescription",
            ],
        ]
        return Dictionary(uniqueKeysWithValues: ids.flatMap { task, ids in ids.map { ($0, task) } })
    }()
}
