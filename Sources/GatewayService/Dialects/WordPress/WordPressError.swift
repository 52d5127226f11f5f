import HTTPJSON
import HTTPTypes
import JOSE

/// A problem as ``Dialect/wordpress`` tells it: `{"code": "username_exists", "message": …, "data": {"status": 409}}`.
///
/// What WordPress itself would say has its code; all else has ours in small letters.
struct WordPressError: Equatable {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    let headers: HTTPFields

    init(_ problem: Problem) {
        headers = problem.headers
        let problem = problem.code == "ACCOUNT_NOT_FOUND" ? WordPress.notRegistered : problem
        switch (problem.status, problem.code) {
        case (_, "ROUTE_NOT_FOUND"), (_, "METHOD_NOT_ALLOWED"):
            status = problem.status
            code = "rest_no_route"
            message = "No route was found matching the URL and request method."
        case (_, "JSON_MALFORMED"):
            status = problem.status
            code = "rest_invalid_json"
            message = "Invalid JSON body passed. \(problem.detail)"
        case (_, "AUTHENTICATION_REQUIRED"):
            status = problem.status
            code = "rest_not_logged_in"
            message = "You are not currently logged in."
        case (.unauthorized, _):
            status = problem.status
            code = "invalid_token"
            message = problem.detail
        case (.unprocessableContent, _), (_, "REQUEST_INVALID"):
            status = .badRequest
            code = "invalid_request"
            message = problem.sentence
        case (.internalServerError, _):
            status = problem.status
            code = "internal_server_error"
            message = problem.detail
        default:
            status = problem.status
            code = problem.code.lowercased()
            message = problem.detail
        }
    }

    var response: Response {
        .json(
            [
                "code": .string(code), "message": .string(message),
                "data": ["status": .integer(Int64(status.code))],
            ],
            status: status,
            headers: headers
        )
    }
}

extension OpenAPI.ErrorShape {
    /// As `WordPressError` tells what is wrong.
    static let wordPress = Self(name: "WordPress", contentType: "application/json") { answer in
        .object([
            .required("code", .text("For programs, stable.", pattern: "^[a-z][a-z0-9_]*$")),
            .required("message", .text("For people.", minLength: 1)),
            .required(
                "data",
                .object([.required("status", .constant(.integer(Int64(answer.rawValue))))])
            ),
        ]).named("WordPressError\(answer.rawValue)")
    }
}
