import API
import RPC

/// A call that a shell can make, as ``MethodsPage`` shows it.
struct CallExample: Sendable {
    /// Path and query. `$NAME` stands for a variable of the shell.
    let target: String
    /// The method of HTTP; GET and POST go without saying in a line.
    var method = "GET"
    /// Further header fields.
    var headers: [String] = []
    /// The body, between apostrophes; `'$NAME'` stands for a variable of the shell.
    var body: String?
    /// What the body is.
    var bodyType = "application/json"
    /// Whether it needs an access token.
    var needsToken = false

    /// The line for a shell.
    ///
    /// - Parameter base: scheme, host and port of the gateway.
    func line(_ base: String) -> String {
        var parts = ["curl -sS"]
        if method != (body == nil ? "GET" : "POST") { parts.append("-X \(method)") }
        parts.append("\"\(base)\(target)\"")
        if needsToken { parts.append("-H \"Authorization: Bearer $ACCESS\"") }
        parts += headers.map { "-H \"\($0)\"" }
        if let body {
            // A file is sent as it is, line ends and all.
            let option = body.hasPrefix("@") ? "--data-binary" : "-d"
            parts.append("-H \"Content-Type: \(bodyType)\" \(option) '\(body)'")
        }
        return parts.joined(separator: " ")
    }
}

/// A method of `vestibule.app.v1` with an example of a call by Connect in JSON.
struct MethodExample: Sendable {
    let method: MethodDescriptor
    /// What it does, in a line.
    let summary: String
    let call: CallExample

    /// Every method but streams, which a shell can't read.
    static let all: [MethodExample] = [
        .init(
            AuthServiceMethods.signInWithProvider,
            "Opens a session for what a provider gave the app.",
            #"{"provider":"apple","idToken":"'$TOKEN'","nonce":"'$NONCE'"}"#
        ),
        .init(
            AuthServiceMethods.createChallenge,
            "Makes a nonce for a sign-in.",
            #"{"provider":"apple","clientId":"com.example.app"}"#
        ),
        .init(
            AuthServiceMethods.refreshSession,
            "Exchanges a refresh token for its successor and a new access token.",
            #"{"refreshToken":"'$REFRESH'"}"#
        ),
        .init(AuthServiceMethods.signOut, "Ends the session.", "{}", needsToken: true),
        .init(
            AuthServiceMethods.signOutEverywhere,
            "Ends all sessions of the user, or all but the one that asks.",
            #"{"exceptCurrent":true}"#,
            needsToken: true
        ),
        .init(AuthServiceMethods.listSessions, "The user's live sessions.", "{}", needsToken: true),
        .init(
            AuthServiceMethods.renameSession,
            "Gives one of the user's live sessions another name.",
            #"{"sessionId":"'$SESSION'","deviceName":"Blue phone"}"#,
            needsToken: true
        ),
        .init(
            AuthServiceMethods.endSession,
            "Ends one of the user's sessions.",
            #"{"sessionId":"'$SESSION'"}"#,
            needsToken: true
        ),
        .init(AuthServiceMethods.listProviders, "The providers that open the user's account.", "{}", needsToken: true),
        .init(
            AuthServiceMethods.linkProvider,
            "Links a further provider to the user's account.",
            #"{"credentials":{"provider":"google","idToken":"'$GOOGLE_TOKEN'","nonce":"'$NONCE'"}}"#,
            needsToken: true
        ),
        .init(
            AuthServiceMethods.unlinkProvider,
            "Takes a provider from the user's account.",
            #"{"provider":"apple"}"#,
            needsToken: true
        ),
        .init(AccountServiceMethods.getMe, "The user's profile.", "{}", needsToken: true),
        .init(
            AccountServiceMethods.updateMe,
            "Changes the fields that are present, all or none.",
            #"{"displayName":"Maria Santos"}"#,
            needsToken: true
        ),
        .init(
            AccountServiceMethods.checkUsername,
            "Whether a username is free, and others if not.",
            #"{"username":"maria"}"#,
            needsToken: true
        ),
        .init(
            AccountServiceMethods.provePhone,
            "Proves that a phone number is the user's, by an assertion of the app's own backend.",
            #"{"assertion":"'$ASSERTION'"}"#,
            needsToken: true
        ),
        .init(
            AccountServiceMethods.deleteMe,
            "Deletes the user's account for good.",
            #"{"credentials":{"provider":"google","idToken":"'$GOOGLE_TOKEN'","nonce":"'$NONCE'"}}"#,
            needsToken: true
        ),
        .init(
            AccountServiceMethods.cancelDeletion,
            "Cancels the scheduled deletion of the user's account.",
            "{}",
            needsToken: true
        ),
        .init(
            GroupServiceMethods.createGroup,
            "Creates a group with the user as its first member.",
            #"{"name":"Trip to Siargao"}"#,
            needsToken: true
        ),
        .init(GroupServiceMethods.listGroups, "The user's groups.", #"{"pageSize":10}"#, needsToken: true),
        .init(
            GroupServiceMethods.addMember,
            "Adds a person by phone number, pending until a user has it.",
            #"{"groupId":"'$GROUP'","phoneNumber":"+639171234567","displayName":"Ana Cruz"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.listMembers,
            "A group's members and pending members.",
            #"{"groupId":"'$GROUP'"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.addMembers,
            "Adds people by phone number, each with a result of its own.",
            #"{"groupId":"'$GROUP'","members":[{"phoneNumber":"+639171234567","displayName":"Ana Cruz"}]}"#,
            needsToken: true
        ),
        .init(GroupServiceMethods.getGroup, "A group.", #"{"groupId":"'$GROUP'"}"#, needsToken: true),
        .init(
            GroupServiceMethods.updateGroup,
            "Changes the fields of a group that are present.",
            #"{"groupId":"'$GROUP'","name":"Trip to Siargao"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.deleteGroup,
            "Deletes a group with everybody in it.",
            #"{"groupId":"'$GROUP'"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.removeMember,
            "Puts a member out, or takes back that a person is awaited.",
            #"{"groupId":"'$GROUP'","memberId":"'$MEMBER'"}"#,
            needsToken: true
        ),
        .init(GroupServiceMethods.leaveGroup, "Leaves a group.", #"{"groupId":"'$GROUP'"}"#, needsToken: true),
        .init(
            GroupServiceMethods.setMemberRole,
            "Makes a member an admin or a plain member.",
            #"{"groupId":"'$GROUP'","memberId":"'$MEMBER'","role":"GROUP_ROLE_ADMIN"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.handOverGroup,
            "Makes another member the owner.",
            #"{"groupId":"'$GROUP'","memberId":"'$MEMBER'"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.listMyInvitations,
            "What waits for the user.",
            #"{"pageSize":10}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.acceptInvitation,
            "Accepts an invitation.",
            #"{"groupId":"'$GROUP'","memberId":"'$INVITATION'"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.declineInvitation,
            "Declines an invitation, or takes a request to join back.",
            #"{"groupId":"'$GROUP'","memberId":"'$INVITATION'"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.confirmMember,
            "Says that a user is the person meant.",
            #"{"groupId":"'$GROUP'","memberId":"'$REQUEST'","confirmedUserId":"'$PERSON'"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.listPending,
            "Whom a group waits for and who is in doubt.",
            #"{"groupId":"'$GROUP'"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.createGroupLink,
            "Makes a link by which people join.",
            #"{"groupId":"'$GROUP'","usesMax":1}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.listGroupLinks,
            "A group's links that are good.",
            #"{"groupId":"'$GROUP'"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.revokeGroupLink,
            "Ends a link.",
            #"{"groupId":"'$GROUP'","linkId":"'$LINK'"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.previewGroupLink,
            "What a link is of, before joining.",
            #"{"token":"'$LINK_TOKEN'"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.joinByLink,
            "Joins the group of a link.",
            #"{"token":"'$LINK_TOKEN'"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.blockInviter,
            "Keeps a user from making the caller a member by number.",
            #"{"inviterUserId":"'$PERSON'"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.unblockInviter,
            "Lets a user make the caller a member by number again.",
            #"{"inviterUserId":"'$PERSON'"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.listBlockedInviters,
            "Those whom the user blocks.",
            #"{"pageSize":10}"#,
            needsToken: true
        ),
        .init(KeyServiceMethods.getKeySet, "The public keys of our tokens.", "{}"),
    ]

    private init(_ method: MethodDescriptor, _ summary: String, _ message: String, needsToken: Bool = false) {
        self.method = method
        self.summary = summary
        call =
            method.allowsGet
            ? CallExample(target: "\(method.path)?encoding=json&message=%7B%7D", needsToken: needsToken)
            : CallExample(target: method.path, method: "POST", body: message, needsToken: needsToken)
    }
}
