/// A simulated provider.
enum Provider: String, CaseIterable, Sendable {
    case apple
    case google
    case facebook

    /// The `iss` of its tokens: that of the real provider.
    var issuer: String {
        switch self {
        case .apple: "https://appleid.apple.com"
        case .google: "https://accounts.google.com"
        case .facebook: "https://www.facebook.com"
        }
    }

    /// How long its ID tokens live, in seconds: Apple's a day, the others' an hour.
    var tokenLifetimeSeconds: Int64 {
        switch self {
        case .apple: 86_400
        case .google, .facebook: 3600
        }
    }

    /// How long its access tokens live, in seconds: Facebook's 60 days, the others' an hour.
    var accessTokenLifetimeSeconds: Int64 {
        switch self {
        case .apple, .google: 3600
        case .facebook: 5_184_000
        }
    }

    /// Its name for people.
    var title: String {
        switch self {
        case .apple: "Apple"
        case .google: "Google"
        case .facebook: "Facebook"
        }
    }

    /// The simulated endpoints, by the last word of their paths. Each is counted and can misbehave.
    var endpoints: [String] {
        switch self {
        case .apple: ["keys", "authorize", "token", "revoke", "usermigrationinfo"]
        case .google: ["keys", "authorize", "token", "revoke", "tokeninfo", "userinfo"]
        case .facebook: ["keys", "debug_token", "me"]
        }
    }
}
