import HTTPJSON
import HTTPTypes
import JOSE

/// A problem as OAuth tells it (RFC 6749 section 5.2): `{"error": "invalid_client", "error_description": …}`, and our own code.
struct OAuthError {
    private let problem: Problem

    init(_ problem: Problem) { self.problem = problem }

    /// The word of the specification, or of RFC 6749 section 4.1.2.1 for what is wrong on our side.
    var word: String {
        if let word = KeyProofs.oauthError(ofCode: problem.code) { return word }
        return switch problem.status.code {
        case 401: "invalid_client"
        case 429, 503, 504: "temporarily_unavailable"
        case 500...: "server_error"
        default: "invalid_request"
        }
    }

    var response: Response {
        // Of a token endpoint these are errors of the request, and no client authenticates itself by a proof (RFC 9449 section 5).
        let isOfProof = KeyProofs.oauthError(ofCode: problem.code) != nil
        return .json(
            [
                "error": .string(word), "error_description": .string(problem.detail), "code": .string(problem.code),
            ],
            status: isOfProof ? .badRequest : problem.status,
            headers: isOfProof ? [:] : problem.headers
        )
    }
}

extension OpenAPI.ErrorShape {
    /// As `OAuthError` tells what is wrong.
    static let oauth = Self(name: "OAuth", contentType: "application/json") { answer in
        .object([
            .required("error", .text("A word of RFC 6749.", pattern: "^[a-z_]+$")),
            .required("error_description", .text("For people.", minLength: 1)),
            .required("code", .text("For programs, stable.", pattern: "^[A-Z][A-Z0-9_]*$")),
        ]).named("OAuthError")
    }
}
