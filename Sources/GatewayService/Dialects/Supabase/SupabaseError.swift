import HTTPJSON
import HTTPTypes
import JOSE

/// A problem as ``Dialect/supabase`` tells it: `{"code": 400, "error_code": "validation_failed", "msg": …}`, with the statuses
/// and codes by which its clients decide what to do. They drop a session for whatever answers a refresh but 502, 503 and 504;
/// so what isn't about the token itself is 503 there.
struct SupabaseError: Equatable {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    let headers: HTTPFields

    init(_ problem: Problem, _ request: Request) {
        let path = request.uri.path
        let isNotServed = problem.code == "ROUTE_NOT_FOUND" || problem.code == "METHOD_NOT_ALLOWED"
        if isNotServed, let refusal = SupabaseRefusal.of(path) {
            // A path that is served with other methods says so, and which (RFC 9110 section 15.5.6). A refusal's own path is none.
            let isServedOtherwise = problem.code == "METHOD_NOT_ALLOWED" && !path.hasSuffix(refusal.path)
            self.init(
                status: isServedOtherwise ? .methodNotAllowed : refusal.status,
                code: refusal.code,
                message: refusal.message,
                headers: isServedOtherwise ? problem.headers : HTTPFields()
            )
        } else {
            self.init(problem, grant: path == SupabaseToken.path ? SupabaseToken.grant(request) : nil)
        }
    }

    private init(status: HTTPResponse.Status, code: String, message: String, headers: HTTPFields) {
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers
    }

    /// As a request tells it that asked for tokens by `grant`, or for something else.
    init(_ problem: Problem, grant: SupabaseToken.Grant?) {
        let told: Told
        switch grant {
        case .refreshToken: told = Self.refusedRefresh(problem) ?? Self.common(problem)
        case .idToken, .pkce: told = Self.refusedSignIn(problem) ?? Self.refusedAct(problem) ?? Self.common(problem)
        case nil: told = Self.refusedSession(problem) ?? Self.refusedAct(problem) ?? Self.common(problem)
        }
        let keepsSession = grant == .refreshToken && !Self.endsRefresh.contains(told.status.code)
        status = keepsSession && told.status != .gatewayTimeout ? .serviceUnavailable : told.status
        code = told.code
        message = told.message
        var headers = problem.headers
        if status != .unauthorized { headers[.wwwAuthenticate] = nil }
        self.headers = headers
    }

    private typealias Told = (status: HTTPResponse.Status, code: String, message: String)

    /// What a refresh may be answered that says: this token, or this request, will never do.
    private static let endsRefresh: Set = [400, 404, 405, 413, 415]

    /// What is wrong with a refresh token; nil for anything else.
    private static func refusedRefresh(_ problem: Problem) -> Told? {
        switch problem.code {
        case "REFRESH_TOKEN_REUSED":
            (.badRequest, "refresh_token_already_used", "Invalid Refresh Token: Already Used")
        case "SESSION_EXPIRED": (.badRequest, "session_expired", "Invalid Refresh Token: Session Expired")
        // Any other refusal: gotrue deletes the tokens of a session that ended, and then knows nothing of them.
        case _ where problem.status == .unauthorized:
            (.badRequest, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found")
        default: nil
        }
    }

    /// What is wrong with a provider's token, or with the bearer token of who links one; nil for anything else.
    private static func refusedSignIn(_ problem: Problem) -> Told? {
        switch problem.code {
        case "AUTHENTICATION_REQUIRED", "ACCESS_TOKEN_INVALID", "ACCESS_TOKEN_EXPIRED": refusedSession(problem)
        case _ where problem.code.hasPrefix("SESSION_"): refusedSession(problem)
        case "PROOF_REQUIRED": nil
        case "TICKET_INVALID": (.notFound, "flow_state_not_found", "The code is not valid, or was used before.")
        case "PROVIDER_UNKNOWN": (.badRequest, "provider_disabled", problem.sentence)
        case _ where problem.status == .unauthorized: (.badRequest, "invalid_credentials", problem.detail)
        default: nil
        }
    }

    /// What is wrong with a bearer token; nil for anything else.
    private static func refusedSession(_ problem: Problem) -> Told? {
        guard problem.status == .unauthorized else { return nil }
        if problem.code == "AUTHENTICATION_REQUIRED" {
            return (.unauthorized, "no_authorization", "This endpoint requires a valid Bearer token")
        }
        if problem.code.hasPrefix("SESSION_") { return (.forbidden, "session_not_found", problem.detail) }
        return (.forbidden, "bad_jwt", "invalid JWT: \(problem.detail)")
    }

    /// Why the identities of an account stay as they are; nil for anything else.
    private static func refusedAct(_ problem: Problem) -> Told? {
        switch problem.code {
        case "IDENTITY_TAKEN":
            (.unprocessableContent, "identity_already_exists", "Identity is already linked to another user")
        case "PROVIDER_ALREADY_LINKED": (.unprocessableContent, "provider_already_linked", problem.detail)
        case "RECENT_SIGN_IN_REQUIRED": (.badRequest, "reauthentication_needed", problem.detail)
        case "PROOF_REQUIRED": (.forbidden, "proof_required", problem.detail)
        case "LAST_PROVIDER":
            (
                .unprocessableContent, "single_identity_not_deletable",
                "User must have at least 1 identity after unlinking"
            )
        case "IDENTITY_NOT_FOUND": (.unprocessableContent, "identity_not_found", problem.detail)
        default: nil
        }
    }

    private static func common(_ problem: Problem) -> Told {
        switch (problem.status, problem.code) {
        case (_, "PHONE_TAKEN"):
            let words = "This phone number is already associated with another account."
            return (.unprocessableContent, "phone_exists", words)
        case (_, "ACCOUNT_NOT_FOUND"), (_, "USER_ID_INVALID"): return (.notFound, "user_not_found", "User not found")
        case (_, "SIGNUP_DISABLED"): return (problem.status, "signup_disabled", problem.detail)
        case (_, "GUESTS_NOT_ENABLED"):
            return (.unprocessableContent, "anonymous_provider_disabled", "Anonymous sign-ins are disabled")
        case (_, "WORK_REQUIRED"), (_, "WORK_INVALID"), (_, "WORK_EXPIRED"), (_, "WORK_SPENT"):
            return (.badRequest, "captcha_failed", problem.detail)
        case (_, "ACCOUNT_BLOCKED"): return (.forbidden, "user_banned", "User is banned")
        case (_, "JSON_MALFORMED"): return (problem.status, "bad_json", problem.detail)
        case (_, "ROUTE_NOT_FOUND"): return (problem.status, "not_found", problem.detail)
        case (_, "REQUEST_INVALID"), (.unprocessableContent, _):
            return (problem.status, "validation_failed", problem.sentence)
        case (.tooManyRequests, _): return (problem.status, "over_request_rate_limit", problem.detail)
        case (.gatewayTimeout, _), (.requestTimeout, _): return (problem.status, "request_timeout", problem.detail)
        case (.internalServerError, _): return (problem.status, "unexpected_failure", problem.detail)
        default: return (problem.status, problem.code.lowercased(), problem.detail)
        }
    }

    var response: Response {
        .json(
            ["code": .integer(Int64(status.code)), "error_code": .string(code), "msg": .string(message)],
            status: status,
            headers: headers
        )
    }
}

extension OpenAPI.ErrorShape {
    /// As `SupabaseError` tells what is wrong.
    static let supabase = Self(name: "Supabase", contentType: "application/json") { answer in
        .object([
            .required("code", .constant(.integer(Int64(answer.rawValue)))),
            .required("error_code", .text("For programs, stable.", pattern: "^[a-z][a-z0-9_]*$")),
            .required("msg", .text("For people.", minLength: 1)),
        ]).named("SupabaseError\(answer.rawValue)")
    }
}
