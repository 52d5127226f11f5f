import HTTPTypes

/// An example of a request to each route that is written by hand, by the operation's id.
enum RouteExamples {
    /// The request of an operation; nil where nobody has written one.
    static func request(_ operation: OpenAPI.Operation) -> CallExample? {
        guard let example = all[operation.id] else { return ofMethods[operation.id]?.request(operation) }
        return CallExample(
            target: example.target ?? operation.path,
            method: operation.method.rawValue,
            headers: example.headers,
            body: example.body,
            bodyType: example.bodyType,
            needsToken: example.needsToken
        )
    }

    /// The operations of routes that are written by hand and have one.
    static var ids: Set<String> { Set(all.keys) }

    /// The examples of methods, by the ids of their routes.
    private static let ofMethods = Dictionary(
        uniqueKeysWithValues: MethodExample.all.map { (AppDescription.current[$0.method].operationID, $0) }
    )

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

        static func form(_ body: String, _ target: String? = nil) -> Example {
            var example = Example(target, body: body)
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

    private static let all: [String: Example] = [
        "signInWithApple": .init(body: apple),
        "signInWithGoogle": .init(body: google),
        "signInWithProvider": .init("/auth/google", body: google),
        "signInAsGuest": .init(
            body: #"{"proof_of_work":"'$WORK'","device_name":"Blue phone"}"#
        ),
        "signInWithPasskey": .init(
            body: #"{"credential":"'$PASSKEY'","device_name":"Blue phone"}"#
        ),
        "receiveAppleNotice": .init(body: #"{"payload":"'$NOTICE'"}"#),
        "receiveGoogleNotice": .text("'$NOTICE'", ReceiveGoogleNoticeRoute.contentType),
        "introspectToken": .client("token='$ACCESS'"),
        "getServerMetadata": .init(),
        "getOpenIDConfiguration": .init(),
        "refreshSession": .init(body: #"{"refresh_token":"'$REFRESH'"}"#),
        "linkProvider": .user("/auth/identities/google", body: google),
        "beginAppleByWeb": .init("/auth/apple/start?code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
        "finishAppleByWeb": .form("error=user_cancelled_authorize"),
        "watchGroups": .user(),
        "deleteMe": .user(body: deletion),
        "setAvatar": .image,
        "deleteAvatar": .user(),
        "getAvatar": .init("/avatars/$AVATAR"),
        "getKeySet": .init(),
        "getAppleAppSiteAssociation": .init(),
        "getAssetLinks": .init(),
        "getRelatedOrigins": .init(),
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
        "supabaseSignUp": .init(body: #"{"gotrue_meta_security":{"captcha_token":"'$WORK'"}}"#),
        "supabaseAuthorizeIdentity": .user(
            "/auth/v1/user/identities/authorize?provider=apple&code_challenge_method=s256&skip_http_redirect=true"
                + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        ),
        "supabaseCallback": .form("error=access_denied"),
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
