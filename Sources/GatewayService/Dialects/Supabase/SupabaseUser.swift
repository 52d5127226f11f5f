import API
import HTTPJSON
import JOSE
import RPC

/// A user as ``Dialect/supabase`` tells them: members, types and spellings of moments as its clients decode them.
struct SupabaseUser {
    let account: IdentityV1.Account
    /// Nil if it can't be had now.
    let profile: ProfileV1.Profile?

    /// The user who has these proofs.
    static func find(
        _ proofs: IdentityV1.CallerProofs,
        _ people: People,
        _ context: RouteContext
    ) async throws -> SupabaseUser {
        async let account = people.account(proofs, context.callOptions())
        async let profile = people.profile(proofs, context.callOptions())
        return try await SupabaseUser(account: account, profile: profile)
    }

    /// Any user by their id, for an operator.
    static func findAny(_ userID: String, _ people: People, _ context: RouteContext) async throws -> SupabaseUser {
        async let account = people.anyAccount(userID, context.callOptions())
        async let profile = people.anyProfile(userID, context.callOptions())
        return try await SupabaseUser(account: account, profile: profile)
    }

    var json: JSONObject {
        let email = account.identities.first { !$0.email.isEmpty }
        let lastSignIn = account.identities.map(\.lastSignInAtMs).max() ?? 0
        let changed = max(account.createdAtMs, lastSignIn, profile?.updatedAtMs ?? 0)
        let confirmed = email.flatMap { $0.emailVerified ? moment($0.createdAtMs) : nil }
        var json: JSONObject = [
            "id": .string(account.userID),
            "aud": "authenticated",
            "role": "authenticated",
            "email": .string(email?.email ?? ""),
            "phone": .string(phone),
        ]
        // Members of moments that never were are absent, as gotrue leaves them out.
        json["email_confirmed_at"] = confirmed
        json["confirmed_at"] = confirmed
        json["last_sign_in_at"] = lastSignIn > 0 ? moment(lastSignIn) : nil
        json["app_metadata"] = .object(appMetadata)
        json["user_metadata"] = .object(userMetadata)
        json["identities"] = .array(account.identities.map { .object(self.json(of: $0)) })
        json["created_at"] = moment(account.createdAtMs)
        json["updated_at"] = moment(changed)
        json["is_anonymous"] = .bool(account.isGuest)
        return json
    }

    /// Digits without the plus.
    private var phone: String {
        let number = profile?.phoneNumber ?? ""
        return number.hasPrefix("+") ? String(number.dropFirst()) : number
    }

    private var appMetadata: JSONObject {
        var providers: [String] = []
        for identity in account.identities where !providers.contains(identity.provider) {
            providers.append(identity.provider)
        }
        var metadata = JSONObject()
        metadata["provider"] = providers.first.map { .string($0) }
        metadata["providers"] = .array(providers.map { .string($0) })
        return metadata
    }

    /// The members of `user_metadata` that only the provider says: what an app keeps by these names isn't told.
    static let providersMembers: Set = ["email", "email_verified", "phone_verified", "iss", "sub", "provider_id"]

    /// What the provider of the last sign-in told, and over it what the app keeps, but for what only the provider says.
    private var userMetadata: JSONObject {
        // Passkeys say nothing of the person.
        let latest = account.identities.filter { $0.provider != "passkey" }.max {
            $0.lastSignInAtMs < $1.lastSignInAtMs
        }
        var metadata = latest.map(told) ?? JSONObject()
        for member in account.metadata.members
        where member.name != WordPress.emailMember && !Self.providersMembers.contains(member.name) {
            metadata[member.name] = member.value
        }
        return metadata
    }

    private func json(of identity: IdentityV1.ProviderIdentity) -> JSONObject {
        let created = identity.createdAtMs > 0 ? identity.createdAtMs : account.createdAtMs
        let lastSignIn = max(identity.lastSignInAtMs, created)
        return [
            "identity_id": .string(Self.identityID(identity)),
            "id": .string(identity.subject),
            "user_id": .string(account.userID),
            "identity_data": .object(told(identity)),
            "provider": .string(identity.provider),
            "last_sign_in_at": moment(lastSignIn),
            "created_at": moment(created),
            "updated_at": moment(lastSignIn),
            "email": .string(identity.email),
        ]
    }

    /// What a provider told of the person.
    private func told(_ identity: IdentityV1.ProviderIdentity) -> JSONObject {
        var told = JSONObject()
        if !identity.email.isEmpty { told["email"] = .string(identity.email) }
        told["email_verified"] = .bool(identity.emailVerified)
        told["phone_verified"] = false
        let name = identity.toldName.isEmpty ? account.suggestedDisplayName : identity.toldName
        if !name.isEmpty {
            told["full_name"] = .string(name)
            told["name"] = .string(name)
        }
        told["iss"] = Self.issuers[identity.provider].map { .string($0) }
        told["sub"] = .string(identity.subject)
        told["provider_id"] = .string(identity.subject)
        return told
    }

    /// Those that are the same everywhere.
    private static let issuers = [
        "apple": "https://appleid.apple.com", "google": "https://accounts.google.com",
        "facebook": "https://www.facebook.com",
    ]

    /// A UUID that an identity always has, though it has none of its own: of version 8 (RFC 9562 section 5.8), by its digest.
    static func identityID(_ identity: IdentityV1.ProviderIdentity) -> String {
        var bytes = Array(SHA256.hash("\(identity.provider)\u{0}\(identity.subject)").prefix(16))
        bytes[6] = bytes[6] & 0x0f | 0x80
        bytes[8] = bytes[8] & 0x3f | 0x80
        let digits = Array(Hex.encode(bytes))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }

    private func moment(_ milliseconds: Int64) -> JSONValue { .string(RFC3339.text(milliseconds: milliseconds)) }
}

extension OpenAPI.Answer {
    static let supabaseUser = shared("The user.", .supabaseUser)
}

extension OpenAPI.Schema {
    static let supabaseUser = object([
        .required("id", .uuid),
        .required("aud", .constant("authenticated")),
        .required("role", .constant("authenticated")),
        .required("email", .text("Empty if none is known.")),
        .required("phone", .text("Digits without the plus; empty if none is known.", pattern: "^[0-9]*$")),
        .optional("email_confirmed_at", .moment),
        .optional("confirmed_at", .moment),
        .optional("last_sign_in_at", .moment),
        .required("app_metadata", .object([.required("providers", .list(of: .text()))])),
        .required("user_metadata", .object([])),
        .required(
            "identities",
            .list(
                of: .object([
                    .required("identity_id", .uuid), .required("id", .text()), .required("user_id", .uuid),
                    .required("identity_data", .object([])), .required("provider", .text()),
                    .required("last_sign_in_at", .moment), .required("created_at", .moment),
                    .required("updated_at", .moment), .required("email", .text()),
                ])
            )
        ),
        .required("created_at", .moment),
        .required("updated_at", .moment),
        .required("is_anonymous", .bool),
    ]).named("SupabaseUser")
}
