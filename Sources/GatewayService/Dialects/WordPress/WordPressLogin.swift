import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC

/// `POST /wp-json/gread/v1/auth/apple/login`: opens a session for somebody who is registered.
///
/// Whatever must be known for the answer is asked first, and the session opened last, so that nothing can fail after it.
enum WordPressLogin {
    static let operation = OpenAPI.Operation(
        .post,
        "/wp-json/gread/v1/auth/apple/login",
        id: "wordPressLogin",
        tag: .auth,
        summary: "Opens a session for somebody who is registered",
        caller: .anyone,
        body: .required(.wordPressLogin),
        answers: [200: .wordPressSession],
        problems: [.refused, .forbidden, .notFound],
        errors: .wordPress
    )

    static func endpoint(_ parts: DialectParts) -> Endpoint {
        let (identity, people) = (parts.backends.identity, parts.people)
        return Endpoint(operation) { request, context in
            var input = try await context.optionalJSON(request) ?? JSONInput([:])
            let appleUserID = input.optionalString("appleUserID") ?? ""
            guard !appleUserID.isEmpty else {
                throw WordPress.refusal("INVALID_REQUEST", "Missing Apple User ID")
            }
            var call = WordPress.credentials(appleUserID: appleUserID, &input)
            call.create = false
            try input.finish()
            let options = parts.authentication.callOptionsWithAddress(.route(request, context))
            var question = IdentityV1.FindAccountRequest()
            question.credentials = call
            let found = try await identity.findAccount(question, options: options)
            guard !found.userID.isEmpty else { throw WordPress.notRegistered }
            // An account that may not be opened without proof looks the same to a client that knows only the id, with a username
            // or without: identity gives no proof to other services then.
            guard found.hasCallerProofs || !call.hasUnproven else { throw WordPress.proofRequired }
            async let account = people.account(found.callerProofs, context.callOptions())
            async let profile = people.profile(found.callerProofs, context.callOptions())
            let person = try await WordPressPerson(account: account, profile: profile)
            guard person.isRegistered else { throw WordPress.notRegistered }
            let tokens = try await open(call, identity, options)
            return .json(person.session(tokens, message: "Login successful"))
        }
    }

    private static func open(
        _ call: IdentityV1.SignInRequest,
        _ identity: IdentityServiceClient,
        _ options: CallOptions
    ) async throws -> IdentityV1.SessionTokens {
        do {
            return try await identity.signIn(call, options: options).tokens
        } catch {
            if call.hasUnproven, error.reason == "ACCOUNT_NOT_FOUND" { throw WordPress.proofRequired }
            throw error
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let wordPressLogin = object([
        .required("appleUserID", .appleUserID),
        .optional("identityToken", .wordPressIdentityToken),
        .optional("nonce", .text("The raw nonce.", orNull: true)),
        .optional("authorizationCode", .text(orNull: true)),
        .optional("deviceName", .text(orNull: true)),
    ]).named("WordPressLogin")
}
