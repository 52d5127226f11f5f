import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC

/// `POST /oauth2/revoke`: ends the session of a client's token (RFC 7009).
enum RevokeTokenRoute {
    static let path = "/oauth2/revoke"

    static let operation = OpenAPI.Operation(
        .post,
        path,
        id: "revokeToken",
        tag: .auth,
        summary: "Ends the session of a client's token (RFC 7009)",
        description: "A token that isn't valid, or is another client's, ends nothing; the response is the same.",
        caller: .anyone,
        body: .form(.revocation),
        answers: [200: .init("The token's session is not alive any more.")],
        problems: [.refused],
        errors: .openID
    )

    static func endpoint(_ parts: OpenIDParts) -> Endpoint {
        Endpoint(operation) { request, context in
            let form = try await ClientForm(request, context)
            var call = IdentityV1.RevokeClientTokenRequest()
            call.parameters = form.parameters
            call.client = form.client
            let revoked: IdentityV1.RevokeClientTokenResponse
            do throws(RPCError) {
                revoked = try await parts.oauth.revokeClientToken(call, options: parts.options(request, context))
            } catch {
                throw ClientForm.problem(error, mayBeRepeated: true)
            }
            parts.methods.watches.changes.note(sessions: [revoked.endedSessionID])
            if revoked.hasFailure { return form.response(telling: revoked.failure) }
            return Response(status: .ok, headers: [.cacheControl: "no-store", .pragma: "no-cache"])
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let revocation = object(
        [
            .required("token", .text("An access or refresh token.", minLength: 1, maxLength: 8192)),
            .optional("token_type_hint", .text("Is not looked at: the token itself says what it is.")),
        ] + clientMembers
    ).named("Revocation")
}
