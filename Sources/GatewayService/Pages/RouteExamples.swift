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
            bodyType: example.isForm ? "application/x-www-form-urlencoded" : "application/json",
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
        var isForm = false
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
            example.isForm = true
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
    private static let member = #"{"phone_number":"+639171234567","display_name":"Ana Cruz"}"#

    private static let all: [String: Example] = [
        "signInWithApple": .init(body: apple),
        "signInWithGoogle": .init(body: google),
        "signInWithProvider": .init("/auth/google", body: google),
        "refreshSession": .init(body: #"{"refresh_token":"'$REFRESH'"}"#),
        "signOut": .user(),
        "beginAppleByWeb": .init("/auth/apple/start?code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
        "finishAppleByWeb": .form("error=user_cancelled_authorize"),
        "getMe": .user(),
        "updateMe": .user(body: #"{"display_name":"Maria Santos"}"#),
        "createGroup": .user(body: #"{"name":"Trip to Siargao"}"#),
        "listGroups": .user("/groups?page_size=10"),
        "addMember": .user("/groups/$GROUP/members", body: member),
        "listMembers": .user("/groups/$GROUP/members"),
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
        "supabaseLogout": .user("/auth/v1/logout?scope=local"),
        "supabaseSettings": .init(),
        "supabaseHealth": .init(),
        "supabaseKeySet": .init(),
        "supabaseAdminGetUser": .header("apikey: $SERVICE_KEY", "/auth/v1/admin/users/$USER_ID"),
    ]
}
