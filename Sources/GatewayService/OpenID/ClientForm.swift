import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC

/// A form that a client sends to the token, pushed authorization request or revocation endpoint, and by what the client shows itself.
struct ClientForm: Sendable {
    let fields: FormFields
    /// As identity takes it. Whether the client is who it says is identity's to decide.
    let client: IdentityV1.ClientAuthentication
    private let isBasic: Bool

    /// The form of a request.
    ///
    /// - Throws: `Problem`: 401 for credentials by HTTP that can't be read, and as `form` does.
    init(_ request: Request, _ context: RouteContext) async throws {
        var client = IdentityV1.ClientAuthentication()
        let field = request.headers[.authorization]
        if let field {
            guard let basic = BasicCredentials(field) else {
                throw Problem(
                    .unauthorized,
                    code: "CLIENT_INVALID",
                    detail: "The client authenticates itself by Basic, or in the form.",
                    headers: [.wwwAuthenticate: Self.challenge]
                )
            }
            (client.basicID, client.basicSecret) = (basic.id, basic.secret)
        }
        self.client = client
        isBasic = field != nil
        fields = try await context.form(request)
    }

    var parameters: [IdentityV1.OAuthParameter] { IdentityV1.OAuthParameter.all(fields.fields) }

    private static let challenge = #"Basic realm="vestibule clients", charset="UTF-8""#

    /// An answer, which nobody keeps (RFC 6749 section 5.1).
    static func response(_ body: JSONObject, status: HTTPResponse.Status = .ok) -> Response {
        .json(body, status: status, headers: [.cacheControl: "no-store", .pragma: "no-cache"])
    }

    /// What identity found wrong (RFC 6749 section 5.2).
    func response(telling failure: IdentityV1.OAuthFailure) -> Response {
        var body: JSONObject = ["error": .string(failure.error)]
        if !failure.description_p.isEmpty { body["error_description"] = .string(failure.description_p) }
        let status: HTTPResponse.Status =
            switch failure.error {
            case "invalid_client": .unauthorized
            case "temporarily_unavailable": .serviceUnavailable
            case "server_error": .internalServerError
            default: .badRequest
            }
        var response = Self.response(body, status: status)
        if status == .unauthorized, isBasic { response.headers[.wwwAuthenticate] = Self.challenge }
        if status == .serviceUnavailable { response.headers[.retryAfter] = "1" }
        return response
    }

    /// A problem in OAuth's words.
    static func response(telling problem: Problem) -> Response {
        var response = OAuthError(problem).response
        response.headers[.pragma] = "no-cache"
        return response
    }

    /// What a failed call is to a client: none of its errors is the client's, whose mistakes are in the response.
    ///
    /// - Parameter mayBeRepeated: whether the client may send the same again if it isn't known whether the call was done.
    static func problem(_ error: RPCError, mayBeRepeated: Bool) -> Problem {
        switch error.code {
        case .unavailable, .deadlineExceeded, .resourceExhausted:
            var problem = Problem(answering: error, mayBeRepeated: mayBeRepeated)
            problem.status = problem.headers[.retryAfter] == nil ? .internalServerError : .serviceUnavailable
            return problem
        default: return .internalError(cause: error)
        }
    }
}

extension OpenAPI.ErrorShape {
    /// The body of an error of ``ClientForm`` (RFC 6749 section 5.2).
    static let openID = Self(name: "OpenID", contentType: "application/json") { _ in
        .object([
            .required("error", .text("A word of the endpoint's specification.", pattern: "^[a-z_]+$")),
            .optional("error_description", .text("For developers.", minLength: 1)),
            .optional(
                "code",
                .text("For programs, stable; absent where error is enough.", pattern: "^[A-Z][A-Z0-9_]*$")
            ),
        ]).named("OpenIDError")
    }
}

extension OpenAPI.Schema {
    /// How a client shows itself in a form.
    static let clientMembers: [Member] = [
        .optional("client_id", .text("Where the client doesn't authenticate itself by Basic.", maxLength: 255)),
        .optional("client_secret", .text("Of a client that has one, where it doesn't use Basic.", maxLength: 1024)),
    ]
}

extension HTTPField.Name {
    /// RFC 9111 section 5.4, which RFC 6749 section 5.1 asks for. Forced because the literal is a token of RFC 9110 section 5.6.2.
    static let pragma = HTTPField.Name("Pragma")!
}
