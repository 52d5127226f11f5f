import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC

/// `POST /oauth2/par`: takes an authorization request from a client directly (RFC 9126).
enum PushAuthorizationRoute {
    static let path = "/oauth2/par"

    static let operation = OpenAPI.Operation(
        .post,
        path,
        id: "pushAuthorization",
        tag: .auth,
        summary: "Takes an authorization request from a client directly (RFC 9126)",
        caller: .anyone,
        body: .form(.pushedAuthorization),
        answers: [201: .init("What the client names at the authorization endpoint.", .pushedRequest)],
        problems: [.refused],
        errors: .openID
    )

    static func endpoint(_ parts: OpenIDParts) -> Endpoint {
        Endpoint(operation) { request, context in
            let form = try await ClientForm(request, context)
            var call = IdentityV1.PushAuthorizationRequest()
            call.parameters = form.parameters
            call.client = form.client
            let options = try parts.options(request, context)
                .naming(parts.authentication.provenKey(.route(request, context)))
            let pushed: IdentityV1.PushAuthorizationResponse
            do throws(RPCError) {
                pushed = try await parts.oauth.pushAuthorization(call, options: options)
            } catch {
                throw ClientForm.problem(error, mayBeRepeated: true)
            }
            if pushed.hasFailure { return form.response(telling: pushed.failure) }
            return ClientForm.response(
                ["request_uri": .string(pushed.requestUri), "expires_in": .integer(pushed.expiresInSeconds)],
                status: .created
            )
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let pushedAuthorization = object(
        [
            .optional("response_type", .text(maxLength: 255)),
            .optional("redirect_uri", .text(maxLength: 2048)),
            .optional("scope", .text(maxLength: 1024)),
        ] + clientMembers
    ).named("PushedAuthorization")

    fileprivate static let pushedRequest = object([
        .required("request_uri", .text(minLength: 1)),
        .required("expires_in", .integer("Seconds.", minimum: 1)),
    ]).named("PushedRequest")
}
