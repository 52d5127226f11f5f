import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /wp-json/wp/v2/users/me`: who one is, where WordPress itself answers it, with its names of members.
enum WordPressCurrentUser {
    static let operation = OpenAPI.Operation(
        .get,
        "/wp-json/wp/v2/users/me",
        id: "wordPressCurrentUser",
        tag: .profile,
        summary: "Whose the bearer token is",
        caller: .user,
        answers: [200: .init("The user.", .wordPressUser)],
        errors: .wordPress
    )

    static func endpoint(_ parts: DialectParts) -> Endpoint {
        let people = parts.people
        return Endpoint(operation) { request, context in
            let proofs = try await parts.authentication.user(request, context, in: .wordpress).proofs
            async let foundAccount = people.account(proofs, context.callOptions())
            async let foundProfile = people.profile(proofs, context.callOptions())
            let (account, profile) = try await (foundAccount, foundProfile)
            let person = WordPressPerson(account: account, profile: profile)
            return .json([
                "id": .integer(account.accountNumber),
                "name": .string(profile.displayName),
                "slug": .string(profile.username.lowercased()),
                "username": .string(profile.username),
                "email": .string(person.email),
                "email_verified": .bool(person.isEmailVerified(account)),
            ])
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let wordPressUser = object([
        .required("id", .integer("The account's number.", minimum: 1)),
        .required("name", .text("The display name; empty if none is known.")),
        .required("slug", .text("The username in small letters.")),
        .required("username", .text("Empty if the person has none.")),
        .required("email", .text("Empty if none is known.")),
        .required("email_verified", .boolean("Whether a provider verified it for this account.")),
    ]).named("WordPressUser")
}
