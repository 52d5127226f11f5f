import HTTPTypes

/// An example of a request to each route, by the operation's id.
enum RouteExamples {
    /// The request of an operation; nil where nobody has written one.
    static func request(_ operation: OpenAPI.Operation) -> CallExample? {
        guard let example = all[operation.id] else { return nil }
        return CallExample(
            target: example.target ?? operation.path,
            method: operation.method.rawValue,
            headers: example.headers,
            body: example.body,
            bodyType: example.bodyType,
            needsToken: example.needsToken
        )
    }

    /// The operations that have one.
    static var ids: Set<String> { Set(all.keys) }

    /// What of a request doesn't follow from its operation.
    private struct Example: Sendable {
        /// Path and query, where the path has variables or a query is needed.
        var target: String?
        var body: String?
        var bodyType = "application/json"
        var headers: [String] = []
        var needsToken = false

        init(_ target: String? = nil, body: String? = nil) {
            self.target = target
            self.body = body
        }

        static func user(_ target: String? = nil, body: String? = nil) -> Example {
            var example = Example(target, body: body)
            example.needsToken = true
            return example
        }

        static func form(_ body: String) -> Example {
            var example = Example(body: body)
            example.bodyType = "application/x-www-form-urlencoded"
            return example
        }

        static func text(_ body: String, _ type: String) -> Example {
            var example = Example(body: body)
            example.bodyType = type
            return example
        }

        static func client(_ body: String) -> Example {
            var example = form(body)
            example.headers = ["Authorization: Basic $CREDENTIALS"]
            return example
        }

        /// A picture of a file.
        static var image: Example {
            var example = user(body: "@photo.jpg")
            example.bodyType = "image/jpeg"
            return example
        }

        static func header(_ header: String, _ target: String? = nil) -> Example {
            var example = Example(target)
            example.headers = [header]
            return example
        }
    }

    private static let apple = #"{"identity_token":"'$TOKEN'","nonce":"'$NONCE'"}"#
    private static let google = #"{"id_token":"'$GOOGLE_TOKEN'","nonce":"'$NONCE'"}"#
    private static let deletion = #"{"provider":"google","id_token":"'$GOOGLE_TOKEN'","nonce":"'$NONCE'"}"#
    private static let member = #"{"phone_number":"+639171234567","display_name":"Ana Cruz"}"#

    private static let all: [String: Example] = [
        "signInWithApple": .init(body: apple),
        "signInWithGoogle": .init(body: google),
        "signInWithProvider": .init("/auth/google", body: google),
        "createChallenge": .init(body: #"{"provider":"apple","client_id":"com.example.app"}"#),
        "receiveAppleNotice": .init(body: #"{"payload":"'$NOTICE'"}"#),
        "receiveGoogleNotice": .text("'$NOTICE'", ReceiveGoogleNoticeRoute.contentType),
        "introspectToken": .client("token='$ACCESS'"),
        "getServerMetadata": .init(),
        "refreshSession": .init(body: #"{"refresh_token":"'$REFRESH'"}"#),
        "signOut": .user(),
        "signOutEverywhere": .user(body: #"{"except_current":true}"#),
        "listSessions": .user(),
        "renameSession": .user("/auth/sessions/$SESSION", body: #"{"device_name":"Blue phone"}"#),
        "endSession": .user("/auth/sessions/$SESSION"),
        "listProviders": .user(),
        "linkProvider": .user("/auth/identities/google", body: google),
        "unlinkProvider": .user("/auth/identities/apple"),
        "beginAppleByWeb": .init("/auth/apple/start?code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
        "finishAppleByWeb": .form("error=user_cancelled_authorize"),
        "getMe": .user(),
        "watchGroups": .user(),
        "updateMe": .user(body: #"{"display_name":"Maria Santos"}"#),
        "provePhone": .user(body: #"{"assertion":"'$ASSERTION'"}"#),
        "deleteMe": .user(body: deletion),
        "cancelDeletion": .user(),
        "checkUsername": .user("/usernames/maria"),
        "setAvatar": .image,
        "deleteAvatar": .user(),
        "getAvatar": .init("/avatars/$AVATAR"),
        "createGroup": .user(body: #"{"name":"Trip to Siargao"}"#),
        "listGroups": .user("/groups?page_size=10"),
        "addMember": .user("/groups/$GROUP/members", body: member),
        "listMembers": .user("/groups/$GROUP/members"),
        "addMembers": .user("/groups/$GROUP/members/batch", body: "{\"members\":[\(member)]}"),
        "getGroup": .user("/groups/$GROUP"),
        "updateGroup": .user("/groups/$GROUP", body: #"{"name":"Trip to Siargao"}"#),
        "deleteGroup": .user("/groups/$GROUP"),
        "removeMember": .user("/groups/$GROUP/members/$MEMBER"),
        "leaveGroup": .user("/groups/$GROUP/leave"),
        "setMemberRole": .user("/groups/$GROUP/members/$MEMBER", body: #"{"role":"admin"}"#),
        "handOverGroup": .user("/groups/$GROUP/owner", body: #"{"member_id":"'$MEMBER'"}"#),
        "listMyInvitations": .user(),
        "acceptInvitation": .user("/groups/$GROUP/members/$INVITATION/accept"),
        "declineInvitation": .user("/groups/$GROUP/members/$INVITATION/decline"),
        "confirmMember": .user("/groups/$GROUP/members/$REQUEST/confirm", body: #"{"user_id":"'$PERSON'"}"#),
        "listPending": .user("/groups/$GROUP/pending"),
        "createGroupLink": .user("/groups/$GROUP/links", body: #"{"uses_max":1}"#),
        "listGroupLinks": .user("/groups/$GROUP/links"),
        "revokeGroupLink": .user("/groups/$GROUP/links/$LINK"),
        "previewGroupLink": .user(body: #"{"token":"'$LINK_TOKEN'"}"#),
        "joinByLink": .user(body: #"{"token":"'$LINK_TOKEN'"}"#),
        "blockInviter": .user("/me/blocked-inviters/$PERSON"),
        "unblockInviter": .user("/me/blocked-inviters/$PERSON"),
        "listBlockedInviters": .user(),
        "getKeySet": .init(),
        "getLiveness": .init(),
        "getReadiness": .init(),
        "getDescription": .init(),
        "singleTokenSignInWithApple": .init(body: apple),
        "singleTokenSignInWithGoogle": .init(body: google),
        "singleTokenRefresh": .header("Authorization: Bearer $SINGLE"),
        "singleTokenSignOut": .header("Authorization: Bearer $SINGLE"),
        "wordPressLogin": .init(
            body: #"{"appleUserID":"'$APPLE_USER'","identityToken":"'$TOKEN'","nonce":"'$NONCE'"}"#
        ),
        "wordPressRegister": .init(
            body: #"{"appleUserID":"'$APPLE_USER'","email":"'$EMAIL'","username":"'$USERNAME'","#
                + #""identityToken":"'$TOKEN'","nonce":"'$NONCE'"}"#
        ),
        "wordPressLogout": .user(),
        "wordPressCurrentUser": .user(),
        "supabaseToken": .init(
            "/auth/v1/token?grant_type=id_token",
            body: #"{"provider":"apple","id_token":"'$TOKEN'","nonce":"'$NONCE'"}"#
        ),
        "supabaseGetUser": .user(),
        "supabaseUpdateUser": .user(body: #"{"data":{"full_name":"Maria Santos"}}"#),
        "supabaseUnlinkIdentity": .user("/auth/v1/user/identities/$IDENTITY_ID"),
        "supabaseLogout": .user("/auth/v1/logout?scope=local"),
        "supabaseSettings": .init(),
        "supabaseHealth": .init(),
        "supabaseKeySet": .init(),
        "supabaseAdminGetUser": .header("apikey: $SERVICE_KEY", "/auth/v1/admin/users/$USER_ID"),
        "supabaseAdminDeleteUser": .header("apikey: $SERVICE_KEY", "/auth/v1/admin/users/$USER_ID"),
    ]
}
