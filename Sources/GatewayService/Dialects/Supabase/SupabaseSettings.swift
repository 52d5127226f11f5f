import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC

/// `GET /auth/v1/settings`: by which providers one may sign in.
///
/// Only identity knows its providers. It is asked about a token that is none, and says so or that it has no such provider.
enum SupabaseSettings {
    /// The providers that it lists: those that this dialect's clients and we both know.
    private static let providers = ["apple", "google", "facebook", "keycloak"]

    static let operation = OpenAPI.Operation(
        .get,
        "/auth/v1/settings",
        id: "supabaseSettings",
        tag: .system,
        summary: "By which providers one may sign in",
        caller: .anyone,
        answers: [200: .init("The settings.", .supabaseSettings)],
        errors: .supabase
    )

    static func endpoint(_ parts: DialectParts) -> Endpoint {
        let identity = parts.backends.identity
        return Endpoint(operation) { _, context in
            let hasGuests = try await hasGuests(identity, context.callOptions())
            var external: JSONObject = ["anonymous_users": .bool(hasGuests), "email": false, "phone": false]
            for provider in providers {
                external[provider] = .bool(try await isConfigured(provider, identity, context.callOptions()))
            }
            return .json([
                "external": .object(external),
                "disable_signup": false,
                "mailer_autoconfirm": false,
                "phone_autoconfirm": true,
                "sms_provider": "",
                "saml_enabled": false,
            ])
        }
    }

    private static func hasGuests(
        _ identity: IdentityServiceClient,
        _ options: CallOptions
    ) async throws(RPCError) -> Bool {
        do {
            _ = try await identity.createGuestChallenge(.init(), options: options)
            return true
        } catch {
            // An identity of before has no such method, and an allow-list of before doesn't name it.
            let isOff =
                error.reason == "GUESTS_NOT_ENABLED" || [.unimplemented, .permissionDenied].contains(error.code)
            guard isOff else { throw error }
            return false
        }
    }

    private static func isConfigured(
        _ provider: String,
        _ identity: IdentityServiceClient,
        _ options: CallOptions
    ) async throws(RPCError) -> Bool {
        var question = IdentityV1.FindAccountRequest()
        question.credentials.provider = provider
        question.credentials.idToken = "-"
        do {
            _ = try await identity.findAccount(question, options: options)
            return true
        } catch {
            switch error.code {
            case .invalidArgument, .unauthenticated, .notFound, .failedPrecondition:
                return error.reason != "PROVIDER_UNKNOWN"
            default: throw error
            }
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let supabaseSettings = object([
        .required("external", .map(to: .bool)),
        .required("disable_signup", .bool),
        .required("mailer_autoconfirm", .bool),
        .required("phone_autoconfirm", .bool),
        .required("sms_provider", .text()),
        .required("saml_enabled", .bool),
    ]).named("SupabaseSettings")
}
