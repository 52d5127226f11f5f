import HTTPJSON
import JOSE

/// A problem as ``Dialect/singleToken`` tells it: `{"success": false, "error": "TOKEN_EXPIRED", "message": …}`, with the
/// status and header fields that it has everywhere.
struct SingleTokenError {
    let problem: Problem

    init(_ problem: Problem) { self.problem = problem }

    var response: Response {
        .json(
            ["success": false, "error": .string(problem.code), "message": .string(problem.sentence)],
            status: problem.status,
            headers: problem.headers
        )
    }
}

extension OpenAPI.ErrorShape {
    /// As `SingleTokenError` tells what is wrong.
    static let singleToken = Self(name: "SingleToken", contentType: "application/json") { _ in .singleTokenError }
}

extension OpenAPI.Schema {
    fileprivate static let singleTokenError = object([
        .required("success", .constant(false)),
        .required("error", .text("For programs, stable.", pattern: "^[A-Z][A-Z0-9_]*$")),
        .required("message", .text("For people.", minLength: 1)),
    ]).named("SingleTokenError")
}
