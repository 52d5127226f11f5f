import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC

/// `POST /oauth2/token`: the token endpoint (RFC 6749 section 3.2).
enum IssueTokensRoute {
    static let path = "/oauth2/token"

    static let operation = OpenAPI.Operation(
        .post,
        path,
        id: "issueTokens",
        tag: .auth,
        summary: "Redeems an authorization code or a refresh token (RFC 6749)",
        description: "A client shows itself by Basic or in the form; a public one has no client_secret.",
        caller: .anyone,
        body: .form(.tokenForm),
        answers: [200: .init("The tokens.", .issuedTokens)],
        problems: [.refused],
        errors: .openID
    )

    static func endpoint(_ parts: OpenIDParts) -> Endpoint {
        Endpoint(operation) { request, context in
            let form = try await ClientForm(request, context)
            var call = IdentityV1.IssueTokensRequest()
            call.parameters = form.parameters
            call.client = form.client
            call.presentedAtMilliseconds = IdentityV1.RefreshRequest(presentedNow: "").presentedAtMilliseconds
            let options = try parts.options(request, context)
                .naming(parts.authentication.provenKey(.route(request, context)))
            let issued: IdentityV1.IssueTokensResponse
            do throws(RPCError) {
                issued = try await parts.oauth.issueTokens(call, options: options)
            } catch {
                // The second use of a code ends what the first one opened; a refresh token may be sent again.
                throw ClientForm.problem(error, mayBeRepeated: form.fields["grant_type"] == "refresh_token")
            }
            if issued.hasFailure { return form.response(telling: issued.failure) }
            var body: JSONObject = [
                "access_token": .string(issued.accessToken),
                "token_type": .string(TokenType.name(isBound: issued.isBoundToKey)),
                "expires_in": .integer(issued.expiresInSeconds), "scope": .string(issued.scope),
            ]
            if !issued.refreshToken.isEmpty { body["refresh_token"] = .string(issued.refreshToken) }
            if !issued.idToken.isEmpty { body["id_token"] = .string(issued.idToken) }
            return ClientForm.response(body)
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let tokenForm = object(
        [
            .required("grant_type", .oneOf(["authorization_code", "refresh_token"])),
            .optional("code", .text(maxLength: 1024)),
            .optional("redirect_uri", .text("As the code was asked for.", maxLength: 2048)),
            .optional("code_verifier", .text("RFC 7636 section 4.1.", minLength: 43, maxLength: 128)),
            .optional("refresh_token", .text(maxLength: 8192)),
            .optional("scope", .text("With a refresh token: less than was granted.", maxLength: 1024)),
        ] + clientMembers
    ).named("TokenForm")

    fileprivate static let issuedTokens = object([
        .required("access_token", .text(minLength: 1)),
        .required("token_type", .oneOf(TokenType.names)),
        .required("expires_in", .integer("Seconds.", minimum: 0)),
        .required("scope", .text("What was granted.")),
        .optional("refresh_token", .text("With offline_access.", minLength: 1)),
        .optional("id_token", .text("With openid.", minLength: 1)),
    ]).named("IssuedTokens")
}
