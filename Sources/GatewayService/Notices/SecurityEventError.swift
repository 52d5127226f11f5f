import HTTPJSON
import HTTPTypes
import JOSE

/// A problem as RFC 8935 section 2.3 tells it: `{"err": "invalid_key", "description": …}`, and our own code.
struct SecurityEventError {
    private let problem: Problem

    init(_ problem: Problem) { self.problem = problem }

    /// A word of RFC 8935 section 2.4 for what is wrong with the token or the request; its own of OAuth for what is wrong here.
    var word: String {
        switch problem.code {
        case "NOTICE_KEY_UNKNOWN", "NOTICE_SIGNATURE": "invalid_key"
        case "NOTICE_ISSUER": "invalid_issuer"
        case "NOTICE_AUDIENCE": "invalid_audience"
        default:
            switch problem.status.code {
            case 429, 503, 504: "temporarily_unavailable"
            case 500...: "server_error"
            default: "invalid_request"
            }
        }
    }

    var response: Response {
        var headers = problem.headers
        headers[.contentLanguage] = "en"
        return .json(
            ["err": .string(word), "description": .string(problem.detail), "code": .string(problem.code)],
            status: problem.status,
            headers: headers
        )
    }
}

extension OpenAPI.ErrorShape {
    /// As `SecurityEventError` tells what is wrong.
    static let securityEvent = Self(name: "SecurityEvent", contentType: "application/json") { _ in
        .object([
            .required("err", .text("A word of RFC 8935.", pattern: "^[a-z_]+$")),
            .required("description", .text("For people.", minLength: 1)),
            .required("code", .text("For programs, stable.", pattern: "^[A-Z][A-Z0-9_]*$")),
        ]).named("SecurityEventError")
    }
}
