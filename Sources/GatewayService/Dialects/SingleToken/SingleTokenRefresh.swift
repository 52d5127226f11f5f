import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `POST /api/auth/refresh`: a single token with a later end, for the bearer token, be it expired, while its session lives.
enum SingleTokenRefresh {
    static let operation = OpenAPI.Operation(
        .post,
        "/api/auth/refresh",
        id: "singleTokenRefresh",
        tag: .auth,
        summary: "Renews the single token that is the bearer token",
        caller: .user,
        answers: [200: .init("The token.", .renewed)],
        errors: .singleToken
    )

    static func endpoint(_ parts: DialectParts) -> Endpoint {
        Endpoint(operation) { request, context in
            var call = IdentityV1.RenewSingleTokenRequest()
            call.singleToken = try Authentication.requiredToken(request.headers)
            let identity = parts.backends.identity
            let renewal = try await identity.renewSingleToken(call, options: context.callOptions())
            // A session without proof is good in its own dialect only, and identity knows which that is.
            var check = IdentityV1.CheckSessionRequest()
            check.accessToken = renewal.tokens.singleToken
            check.dialect = Dialect.singleToken.rawValue
            _ = try await identity.checkSession(check, options: context.callOptions())
            return .json(["success": true, "token": .string(renewal.tokens.singleToken)])
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let renewed = object([
        .required("success", .constant(true)), .required("token", .singleToken),
    ]).named("SingleTokenRenewed")
}
