import API
import JOSE

extension OpenAPI {
    /// A problem that an operation may answer, by its status.
    enum ProblemAnswer: Int, Sendable, CaseIterable {
        case malformed = 400
        case refused = 401
        case forbidden = 403
        case notFound = 404
        case bodyTooLate = 408
        case conflict = 409
        case bodyTooLarge = 413
        case contentTypeUnsupported = 415
        case fieldsAtFault = 422
        case tooManyRequests = 429
        case headersTooLarge = 431
        case failed = 500
        case notImplemented = 501
        case unavailable = 503
        case tooLate = 504

        /// What any request may be answered, whatever its path: it is no HTTP, there are too many, or we fail.
        static let ofEveryRequest: [Self] = [.malformed, .tooManyRequests, .headersTooLarge, .failed, .notImplemented]
        /// What a request with a body may be answered besides.
        static let ofBodies: [Self] = [.bodyTooLate, .bodyTooLarge, .contentTypeUnsupported]
        /// What a request that needs a service may be answered besides.
        static let ofServices: [Self] = [.unavailable, .tooLate]

        /// Its name among the document's components: that of the case.
        var component: String {
            let name = "\(self)"
            return name.prefix(1).uppercased() + name.dropFirst()
        }

        var description: String {
            switch self {
            case .malformed: "The request does not have the form that this path expects, or is no HTTP/1.1."
            case .refused: "The token or the credentials were refused; the code says why."
            case .forbidden: "The user may not do this."
            case .notFound: "There is no such thing."
            case .bodyTooLate: "The body did not come in time."
            case .conflict: "This conflicts with something that exists, for example PHONE_TAKEN."
            case .bodyTooLarge: "The body is too large."
            case .contentTypeUnsupported: "The body is of another type than this path takes."
            case .fieldsAtFault: "Fields that break a rule, each named."
            case .tooManyRequests: "The address or the account made too many requests."
            case .headersTooLarge: "The header fields are too many or too large."
            case .failed: "Something went wrong on our side."
            case .notImplemented: "This is not known here: a transfer coding, or a function that is still to come."
            case .unavailable: "This is not available right now."
            case .tooLate: "This took too long."
            }
        }

        /// Every header field that its answer has.
        var headers: [Header] {
            switch self {
            case .refused: [.requestID, .wwwAuthenticate]
            case .contentTypeUnsupported: [.requestID, .accept]
            case .tooManyRequests: [.requestID, .retryAfter]
            case .forbidden: [.requestID, .retryAfterIfKnown, .stepUp]
            case .unavailable, .tooLate: [.requestID, .retryAfterIfKnown]
            case .malformed, .notFound, .bodyTooLate, .conflict, .bodyTooLarge, .fieldsAtFault,
                .headersTooLarge, .failed, .notImplemented:
                [.requestID]
            }
        }

        /// Its component where an operation answers it by a page for people.
        var page: JSONObject {
            var json = ErrorShape.problem.json(self)
            json["content"] = ["text/html": ["schema": .object(Schema.text().json)]]
            json["headers"] = .object(OpenAPI.references([.requestID]))
            return json
        }
    }
}

extension OpenAPI.ErrorShape {
    /// RFC 9457, as our own routes tell what is wrong.
    ///
    /// Of every status it is the same schema, since generators of clients make nothing of one that is narrowed down by status.
    static let problem = Self(name: "", contentType: "application/problem+json") { _ in .problem }
}

extension OpenAPI.Schema {
    /// What `Problem` of HTTPJSON answers: RFC 9457 section 3.1, with a code and fields.
    fileprivate static let problem = object([
        .required("type", .constant("about:blank")),
        .required("title", .text("The status in words.", minLength: 1)),
        .required("status", .integer(minimum: 400, maximum: 599)),
        .required("detail", .text("For people.", minLength: 1)),
        .required("code", .errorCode),
        .optional(
            "fields",
            .list(
                of: .object([
                    .required("field", .text()), .required("code", .errorCode),
                    .required("detail", .text(minLength: 1)),
                ]).named("ProblemField"),
                minItems: 1
            )
        ),
        .optional(
            "suggestions",
            .list(of: .text(minLength: 3, maxLength: 20), "Of USERNAME_TAKEN: usernames that are free.")
        ),
        .optional(
            "acr_values",
            .list(
                of: .text(minLength: 1),
                "Where another sign-in would be enough: how it may be proven (RFC 9470).",
                minItems: 1
            )
        ),
        .optional("max_age", .integer("Beside acr_values: its greatest age, in seconds.", minimum: 1)),
        .optional("revision", .integer("Of REVISION_MISMATCH: the revision that the profile has.", minimum: 0)),
    ]).named("Problem")

    /// The codes of problems and of their fields, each with what an app does about it.
    fileprivate static let errorCode = words(
        ErrorCode.all.map { ($0.name, "\($0.action.rawValue): \($0.description)") },
        """
        For programs, stable. Codes are added as errors are: an app treats one that it doesn't know by the status. Each code's \
        description begins with what an app does: refresh (the session, then repeat the request once), sign_in_again, wait (as \
        long as Retry-After says), show (the detail, to the user), fix_request (the app or the configuration) or retry. \
        ACCESS_TOKEN_EXPIRED and ACCESS_TOKEN_INVALID mean refresh; SESSION_… and REFRESH_TOKEN_… mean sign in again.
        """
    ).named("ErrorCode")
}
