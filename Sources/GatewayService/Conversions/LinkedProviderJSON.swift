import API
import JOSE

extension AppV1.LinkedProvider {
    /// Writes the provider as answers tell it.
    func write(to json: inout JSONWriter) {
        json.add("provider", provider)
        json.add("email", orNull: email)
        json.add("private_email", isPrivateEmail)
        json.add("linked_at", linkedAt)
        json.add("last_sign_in_at", lastSignInAt)
        json.add("disabled", isDisabled)
    }
}

extension OpenAPI.Schema {
    fileprivate static let linkedProvider = object([
        .required("provider", .text("Its name.", minLength: 1)),
        .required(
            "email",
            .text("As the provider gave it; never a relay address.", minLength: 1, orNull: true)
        ),
        .required("private_email", .boolean("Whether the provider gave a relay address.")),
        .required("linked_at", .moment),
        .required("last_sign_in_at", .text("When it last signed in, or was linked.", format: .dateTime)),
        .required("disabled", .boolean("Whether the provider says that its account is disabled.")),
    ]).named("LinkedProvider")
}

extension OpenAPI.Answer {
    static let providerLinked = shared(
        "The providers of the user's account, and the session to go on with if another account has absorbed it.",
        .object([
            .required("identities", .list(of: .linkedProvider)), .optional("session", .session),
        ]).named("ProviderLinked")
    )
    static let linkedProviders = shared(
        "The providers of the user's account.",
        .object([.required("identities", .list(of: .linkedProvider))]).named("LinkedProviders")
    )
}
