import JOSE

/// The local stack's apps at the simulated Apple, Google and Facebook: one of each kind that identity's rules distinguish.
struct DevelopmentProviders: Sendable {
    /// An app at Apple.
    private struct AppleApp {
        let clientID: String
        let kind: String
        let match: String
        let nonce: String
        let withoutNonce: String
        let keyNumber: Int
        /// The lifetime of our access tokens for it; nil for the configured one.
        var accessTokenSeconds: Int64?
    }

    static let teamID = "DEVTEAM001"
    static let appleKeyCount = 2
    static let googleClientID = "example.apps.googleusercontent.com"
    static let facebookClientID = "1234567890"
    /// The lifetime of our access tokens for apps that never refresh: the maximum.
    private static let unrefreshedSeconds: Int64 = 3600

    private static let appleApps = [
        AppleApp(
            clientID: "com.example.app",
            kind: "native",
            match: "sha256",
            nonce: "required",
            withoutNonce: "refuse",
            keyNumber: 1
        ),
        AppleApp(
            clientID: "com.example.bare",
            kind: "native",
            match: "sha256",
            nonce: "optional",
            withoutNonce: "fresh",
            keyNumber: 1,
            accessTokenSeconds: unrefreshedSeconds
        ),
        AppleApp(
            clientID: "com.example.services",
            kind: "services",
            match: "either",
            nonce: "optional",
            withoutNonce: "fresh",
            keyNumber: 1,
            accessTokenSeconds: unrefreshedSeconds
        ),
        AppleApp(
            clientID: "com.example.debug",
            kind: "native",
            match: "sha256",
            nonce: "optional",
            withoutNonce: "code",
            keyNumber: 2
        ),
    ]

    /// The simulator's URL.
    let simulatorURL: String
    /// Whether Apple and Google are configured by the developer's variables.
    let leavesApple: Bool
    let leavesGoogle: Bool

    /// Apple's id of a key.
    static func keyID(_ number: Int) -> String { "DEVKEY000\(number)" }

    /// The providers file. Paths of keys and secrets are relative to its folder.
    var file: JSONObject {
        var providers: [JSONValue] = []
        if !leavesApple { providers.append(.object(apple)) }
        if !leavesGoogle { providers.append(.object(google)) }
        providers.append(.object(facebook))
        return ["providers": .array(providers)]
    }

    /// The simulator's file of clients, by which it checks identity's client authentication.
    ///
    /// - Parameters:
    ///   - applePublicKeys: the public halves of Apple's keys in PEM, in order.
    ///   - googleSecret: the secret of the web client.
    ///   - facebookSecret: the app's secret.
    static func clients(applePublicKeys: [String], googleSecret: String, facebookSecret: String) -> JSONObject {
        let apple = appleApps.map { app -> JSONValue in
            [
                "client_id": .string(app.clientID), "team_id": .string(teamID), "key_id": .string(keyID(app.keyNumber)),
                "public_key_pem": .string(applePublicKeys[app.keyNumber - 1]),
            ]
        }
        return [
            "apple": .array(apple),
            "google": [["client_id": .string(googleClientID), "client_secret": .string(googleSecret)]],
            "facebook": [["client_id": .string(facebookClientID), "client_secret": .string(facebookSecret)]],
        ]
    }

    private var apple: JSONObject {
        let audiences = Self.appleApps.map { app -> JSONValue in
            var audience: JSONObject = [
                "id": .string(app.clientID), "kind": .string(app.kind), "match": .string(app.match),
                "nonce": .string(app.nonce), "without_nonce": .string(app.withoutNonce),
                "apple_key": [
                    "team_id": .string(Self.teamID), "key_id": .string(Self.keyID(app.keyNumber)),
                    "private_key_file": .string("secrets/\(StackFolder.appleKeyName(app.keyNumber))"),
                ],
            ]
            audience["access_token_lifetime_seconds"] = app.accessTokenSeconds.map { .integer($0) }
            return .object(audience)
        }
        return [
            "name": "apple",
            "keys_url": .string("\(simulatorURL)/apple/auth/keys"),
            "token_url": .string("\(simulatorURL)/apple/auth/token"),
            "authorization_url": .string("\(simulatorURL)/apple/auth/authorize"),
            "revocation_url": .string("\(simulatorURL)/apple/auth/revoke"),
            "user_migration_url": .string("\(simulatorURL)/apple/auth/usermigrationinfo"),
            "audiences": .array(audiences),
        ]
    }

    private var google: JSONObject {
        [
            "name": "google",
            "keys_url": .string("\(simulatorURL)/google/oauth2/v3/certs"),
            "token_url": .string("\(simulatorURL)/google/token"),
            "authorization_url": .string("\(simulatorURL)/google/o/oauth2/v2/auth"),
            "revocation_url": .string("\(simulatorURL)/google/revoke"),
            "token_info_url": .string("\(simulatorURL)/google/tokeninfo"),
            "user_info_url": .string("\(simulatorURL)/google/oauth2/v3/userinfo"),
            "access_tokens": "google",
            "audiences": [
                [
                    "id": .string(Self.googleClientID), "kind": "web", "match": "either", "nonce": "optional",
                    "without_nonce": "fresh", "client_secret_file": .string("secrets/\(StackFolder.googleSecretName)"),
                    "access_token_lifetime_seconds": .integer(Self.unrefreshedSeconds),
                ],
                [
                    "id": .string("ios.\(Self.googleClientID)"), "kind": "native", "match": "either",
                    "nonce": "unknown", "without_nonce": "fresh",
                    "access_token_lifetime_seconds": .integer(Self.unrefreshedSeconds),
                ],
                [
                    "id": .string("plain.\(Self.googleClientID)"), "kind": "native", "match": "either",
                    "nonce": "optional",
                    "without_nonce": "fresh", "id_token": false,
                ],
            ],
        ]
    }

    private var facebook: JSONObject {
        [
            "name": "facebook",
            "keys_url": .string("\(simulatorURL)/facebook/.well-known/oauth/openid/jwks/"),
            "debug_token_url": .string("\(simulatorURL)/facebook/debug_token"),
            "user_info_url": .string("\(simulatorURL)/facebook/me"),
            "access_tokens": "facebook",
            "audiences": [
                [
                    "id": .string(Self.facebookClientID),
                    "client_secret_file": .string("secrets/\(StackFolder.facebookSecretName)"),
                ]
            ],
        ]
    }
}
