import HTTP
import HTTPTypes
import JOSE

/// An error as a client sees it: RFC 9457 problem details, thrown by routes and answered by ``RouteHandler``.
///
/// Everything in it is sent, but for ``cause``, which is only logged.
public struct Problem: Error, Sendable {
    /// A field of the request that is at fault.
    public struct Field: Sendable, Hashable {
        /// The field's JSON name; a path with dots where it is nested.
        public var name: String
        /// What is wrong, as a stable word.
        public var code: String
        /// What is wrong, for people.
        public var detail: String

        /// A fault of a field.
        public init(_ name: String, code: String, detail: String) {
            self.name = name
            self.code = code
            self.detail = detail
        }
    }

    /// The HTTP status.
    public var status: HTTPResponse.Status
    /// What is wrong, as a stable word in UPPER_SNAKE_CASE.
    public var code: String
    /// What is wrong, for people.
    public var detail: String
    /// The fields at fault.
    public var fields: [Field]
    /// Further members of the answer (RFC 9457 section 3.2), none of them by a name that ``body`` has already.
    public var members = JSONObject()
    /// Further header fields of the answer, such as Retry-After.
    public var headers: HTTPFields
    /// Whether the connection cannot carry another request after this one.
    public var closesConnection: Bool
    /// What caused it; logged, never sent.
    public var cause: (any Error)?

    /// A problem.
    public init(
        _ status: HTTPResponse.Status,
        code: String,
        detail: String,
        fields: [Field] = [],
        headers: HTTPFields = HTTPFields(),
        closesConnection: Bool = false,
        cause: (any Error)? = nil
    ) {
        self.status = status
        self.code = code
        self.detail = detail
        self.fields = fields
        self.headers = headers
        self.closesConnection = closesConnection
        self.cause = cause
    }

    /// The members of RFC 9457 section 3.1, and ours: `code` and, where there are any, `fields`.
    public var body: JSONObject {
        var body: JSONObject = [
            // With this type the title is the status's phrase (section 4.2.1); what differs is in `code`.
            "type": "about:blank",
            "title": .string(status.reasonPhrase.isEmpty ? "Error" : status.reasonPhrase),
            "status": .integer(Int64(status.code)),
            "detail": .string(detail),
            "code": .string(code),
        ]
        if !fields.isEmpty {
            body["fields"] = .array(
                fields.map {
                    ["field": .string($0.name), "code": .string($0.code), "detail": .string($0.detail)]
                }
            )
        }
        for member in members.members where body[member.name] == nil { body[member.name] = member.value }
        return body
    }

    /// The answer.
    public func response() -> Response {
        Response(
            status: status,
            headers: headers,
            body: ResponseBody(bytes: body.serialized()),
            contentType: "application/problem+json"
        )
    }
}

extension Problem {
    /// The problem with whole seconds to wait before another try, at least one (RFC 9110 section 10.2.3).
    public func retryingAfter(_ wait: Duration) -> Problem {
        var problem = self
        let (seconds, attoseconds) = wait.components
        problem.headers[.retryAfter] = String(max(1, seconds + (attoseconds > 0 ? 1 : 0)))
        return problem
    }

    /// There is no such path.
    static let routeNotFound = Problem(.notFound, code: "ROUTE_NOT_FOUND", detail: "There is nothing at this path.")

    /// A method that no path here has. The connection goes on: the request's end is known.
    static let methodUnknown = Problem(
        .notImplemented,
        code: HTTPError.methodUnknown.rawValue,
        detail: "This method is not known here."
    )

    /// The path exists, with other methods.
    static func methodNotAllowed(_ allowed: [String]) -> Problem {
        Problem(
            .methodNotAllowed,
            code: "METHOD_NOT_ALLOWED",
            detail: "This path answers \(allowed.joined(separator: ", ")).",
            headers: [.allow: allowed.joined(separator: ", ")]
        )
    }

    /// Something failed that nobody foresaw.
    public static func internalError(cause: any Error) -> Problem {
        Problem(
            .internalServerError,
            code: "INTERNAL",
            detail: "Something went wrong on our side.",
            cause: cause
        )
    }
}
