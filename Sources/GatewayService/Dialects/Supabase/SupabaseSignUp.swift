import API
import HTTPJSON
import HTTPTypes
import JOSE
import ServiceKit

/// `POST /auth/v1/signup` without an address or a number (`signInAnonymously`): creates a guest account, and opens its session. With one it
/// is refused: there are no passwords here.
///
/// The place of a captcha's token is taken by the proof of work, which clients pass on in the same member.
enum SupabaseSignUp {
    static let operation = OpenAPI.Operation(
        .post,
        "/auth/v1/signup",
        id: "supabaseSignUp",
        tag: .auth,
        summary: "Creates a guest account, and opens its session",
        description: """
            captcha_token is a proof of work, as proof_of_work of /auth/guest. 422 with anonymous_provider_disabled where guests are off, \
            and with signup_disabled for a body with email or phone. 400 with captcha_failed for a proof that is missing or not good.
            """,
        caller: .anyone,
        body: .optional(.supabaseSignUp),
        answers: [200: .init("The session, and whose it is.", .supabaseSession)],
        problems: [.fieldsAtFault],
        errors: .supabase
    )

    static func endpoint(_ parts: DialectParts) -> Endpoint {
        Endpoint(operation) { request, context in
            var call = IdentityV1.SignInAsGuestRequest()
            var data: JSONObject?
            if var input = try await context.optionalJSON(request) {
                for member in ["email", "phone", "password"] where !(input.optionalString(member) ?? "").isEmpty {
                    throw noSignUps
                }
                data = SupabaseUpdateUser.data(of: &input, bytesMax: GuestLimits.metadataBytesMax)
                let security = input.optionalObject("gotrue_meta_security")
                call.proofOfWork = security?["captcha_token"]?.string ?? ""
                try input.finish()
            }
            let options = parts.authentication.callOptionsWithAddress(.route(request, context))
            let guest = try await parts.backends.identity.signInAsGuest(call, options: options)
            if let data, !data.members.isEmpty {
                try await SupabaseUpdateUser.keep(data, guest.callerProofs, context, parts)
            }
            return try await SupabaseToken.answer(guest.tokens, guest.callerProofs, context, parts)
        }
    }

    private static let noSignUps = Problem(
        .unprocessableContent,
        code: "SIGNUP_DISABLED",
        detail: "There are no sign-ups by e-mail or by phone here. Use signInWithIdToken, or signInAnonymously."
    )
}

extension OpenAPI.Schema {
    fileprivate static let supabaseSignUp = object([
        .optional("data", .object([], description: "What the app keeps with the account.", orNull: true)),
        .optional(
            "gotrue_meta_security",
            .object([.optional("captcha_token", .text("A proof of work.", orNull: true))], orNull: true)
        ),
    ]).named("SupabaseSignUp")
}
