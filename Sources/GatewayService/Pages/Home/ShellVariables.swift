/// The variables of the lines of ``HomePage``: where their values come from, for people and for the page's script.
enum ShellVariables {
    struct Variable: Sendable {
        /// One or more names.
        let names: String
        let text: String
    }

    static let all: [Variable] = [
        .init(
            names: "TOKEN, NONCE",
            text:
                "An ID token of Apple's and its raw nonce, whose SHA-256 in lowercase hexadecimal is the token's nonce claim; make run "
                + "prints how to ask the simulator for one."
        ),
        .init(names: "GOOGLE_TOKEN", text: "One of Google's, with the same nonce."),
        .init(names: "ACCESS, REFRESH", text: "The access token and the refresh token that a sign-in answers."),
        .init(
            names: "WORK",
            text:
                "The challenge that CreateGuestChallenge answers, a full stop, and digits with which the SHA-256 of it all begins with as "
                + "many zero bits as it says."
        ),
        .init(names: "GUEST_REFRESH", text: "The refresh token that SignInAsGuest answers."),
        .init(
            names: "PASSKEY",
            text:
                "What a passkey makes of the options of CreatePasskeyChallenge, CreatePasskeyRegistration or CreateRecoveryChallenge: "
                + "JSON text, as a JSON string."
        ),
        .init(names: "PASSKEY_ID", text: "The id of a passkey that ListPasskeys answers."),
        .init(names: "RECOVERY_CODE", text: "One of the codes that CreateRecoveryCodes answers."),
        .init(
            names: "NOTICE",
            text: "A provider's notification, from the simulator's /control/apple/notify or /control/google/risc."
        ),
        .init(names: "SESSION", text: "The id of a session that ListSessions answers."),
        .init(
            names: "GROUP, MEMBER",
            text: "The ids of a group that CreateGroup answers, and of a member that AddMember answers."
        ),
        .init(
            names: "ASSERTION",
            text: "The app backend's assertion of a phone number; docs/profiles/phone-numbers.md describes its format."
        ),
        .init(
            names: "INVITATION",
            text: "The id of what waits for the user in GROUP, as ListMyInvitations answers it."
        ),
        .init(
            names: "REQUEST, PERSON",
            text: "The id of a request to join GROUP, as ListPending returns it, and its user's id."
        ),
        .init(names: "LINK, LINK_TOKEN", text: "The id and the token of a link that CreateGroupLink answers."),
        .init(names: "AVATAR", text: "The last part of the avatar_url that the user's upload answers."),
        .init(names: "SINGLE", text: "The token that a sign-in at /api/auth/apple answers."),
        .init(
            names: "APPLE_USER, EMAIL, USERNAME",
            text: "Apple's id of the person of TOKEN, and what they are to be called."
        ),
        .init(names: "IDENTITY_ID", text: "The identity_id of one of the identities in GET /auth/v1/user."),
        .init(
            names: "CREDENTIALS",
            text:
                "The base64 of an id, a colon and the secret of a client of VESTIBULE_GATEWAY_INTROSPECTION_CLIENTS_FILE."
        ),
        .init(names: "SERVICE_KEY, USER_ID", text: "The key of supabase's admin routes, and whom to look up."),
    ]

    /// Which members of an answer set variables of the page, by the operation's id: `NAME=members.0.id`.
    static let sources: [String: String] = [
        "signInWithProvider": "ACCESS=tokens.accessToken REFRESH=tokens.refreshToken",
        "refreshSession": "ACCESS=tokens.accessToken REFRESH=tokens.refreshToken",
        "createChallenge": "NONCE=nonce",
        "signInAsGuest": "ACCESS=tokens.accessToken GUEST_REFRESH=tokens.refreshToken",
        "listSessions": "SESSION=sessions.0.id",
        "signInWithPasskey": "ACCESS=tokens.accessToken REFRESH=tokens.refreshToken",
        "listPasskeys": "PASSKEY_ID=passkeys.0.id",
        "createRecoveryCodes": "RECOVERY_CODE=codes.0",
        "createGroup": "GROUP=id",
        "getGroup": "GROUP=id",
        "listGroups": "GROUP=groups.0.id",
        "addMember": "MEMBER=id",
        "listMembers": "MEMBER=members.1.id",
        "listMyInvitations": "GROUP=invitations.0.group_id INVITATION=invitations.0.id",
        "listPending": "REQUEST=people.0.id PERSON=people.0.user_id",
        "createGroupLink": "LINK=id LINK_TOKEN=token",
        "listGroupLinks": "LINK=links.0.id",
    ]
}
