import API
import JOSE

/// A person as ``Dialect/wordpress`` tells them. What isn't known is an empty text, never null.
struct WordPressPerson {
    let email: String
    let profile: ProfileV1.Profile

    /// A person who registered just now.
    init(email: String, profile: ProfileV1.Profile) {
        self.email = email
        self.profile = profile
    }

    /// A person as they are stored: with the e-mail address that they registered with, if they did so here.
    init(account: IdentityV1.Account, profile: ProfileV1.Profile) {
        let registered = account.metadata[WordPress.emailMember]?.string ?? ""
        self.init(email: registered.isEmpty ? account.email : registered, profile: profile)
    }

    /// Whether a provider verified the address for the account.
    func isEmailVerified(_ account: IdentityV1.Account) -> Bool {
        account.identities.contains { $0.emailVerified && $0.email.lowercased() == email.lowercased() }
    }

    /// Whether they count as registered.
    var isRegistered: Bool { !profile.username.isEmpty }

    /// The answer to signing in.
    func session(_ tokens: IdentityV1.SessionTokens, message: String) -> JSONObject {
        [
            "success": true,
            "message": .string(message),
            "user_id": .integer(tokens.accountNumber),
            "username": .string(profile.username),
            "email": .string(email),
            "token": .string(tokens.singleToken),
            "display_name": .string(profile.displayName),
        ]
    }
}

extension IdentityV1.Account {
    /// What apps keep with the account; empty if it is no JSON, which identity never stores.
    var metadata: JSONObject {
        // Identity keeps 16 KiB; as many values as fit into them are read.
        let limits = JSONLimits(bytesMax: 65_536, depthMax: 64, valuesMax: 65_536)
        return (try? JSONObject(parsing: metadataJson.utf8, limits: limits)) ?? JSONObject()
    }
}

extension OpenAPI.Answer {
    static let wordPressSession = shared("The session's one token, and whose it is.", .wordPressSession)
}

extension OpenAPI.Schema {
    fileprivate static let wordPressSession = object([
        .required("success", .constant(true)),
        .required("message", .text(minLength: 1)),
        .required("user_id", .integer("The account's number.", minimum: 1)),
        .required("username", .text(minLength: 3, maxLength: 20)),
        .required("email", .text("Empty if none is known.")),
        .required("token", .text("A JWT that lives as long as its session may.", minLength: 1)),
        .required("display_name", .text("Empty if none is known.")),
    ]).named("WordPressSession")
}
