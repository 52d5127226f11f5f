extension OpenAPI {
    /// What any request may be answered, whatever its path: it is no HTTP, there are too many, or we fail.
    private static let ofEveryRequest = [400, 429, 431, 500, 501]
    /// What a request with a body may be answered besides.
    static let ofBody = [408, 413, 415]
    /// What a request that needs a service may be answered besides.
    static let ofServices = [503, 504]

    /// The entries of an operation's answers that are problems.
    static func problems(_ statuses: [Int] = []) -> String {
        (ofEveryRequest + statuses).sorted().map { status in
            let name = problemAnswers.first { $0.status == status }?.name ?? ""
            precondition(!name.isEmpty, "\(status) is no answer of ours")
            return "\"\(status)\": {\"$ref\": \"#/components/responses/\(name)\"}"
        }
        .joined(separator: ",\n                  ")
    }

    /// Header fields of every answer.
    static let commonHeaders = ##""X-Request-Id": {"$ref": "#/components/headers/RequestID"}"##

    /// Every problem: its status, its name among the components, what it says, and its own header fields.
    private static let problemAnswers: [(status: Int, name: String, description: String, headers: [String])] = [
        (400, "Malformed", "The request does not have the form that this path expects, or is no HTTP/1.1.", []),
        (401, "Refused", "The token or the credentials were refused; the code says why.", ["WWW-Authenticate"]),
        (403, "Forbidden", "The user may not do this.", []),
        (404, "NotFound", "There is no such thing.", []),
        (408, "BodyTooLate", "The body did not come in time.", []),
        (409, "Conflict", "This conflicts with something that exists, for example PHONE_TAKEN.", []),
        (413, "BodyTooLarge", "The body is too large.", []),
        (415, "ContentTypeUnsupported", "The body is not application/json.", ["Accept"]),
        (422, "FieldsAtFault", "Fields that break a rule, each named.", []),
        (429, "TooManyRequests", "The address or the account made too many requests.", ["Retry-After"]),
        (431, "HeadersTooLarge", "The header fields are too many or too large.", []),
        (500, "Failed", "Something went wrong on our side.", []),
        (501, "NotImplemented", "This is not known here: a transfer coding, or a function that is still to come.", []),
        (503, "Unavailable", "This is not available right now.", ["Retry-After?"]),
        (504, "TooLate", "This took too long.", ["Retry-After?"]),
    ]

    /// The components of the problems' answers.
    static let problemResponses = problemAnswers.map { answer in
        let own = answer.headers.map { header in
            let isOptional = header.hasSuffix("?")
            let name = isOptional ? String(header.dropLast()) : header
            let component = name.filter { $0 != "-" } + (isOptional ? "IfKnown" : "")
            return "\"\(name)\": {\"$ref\": \"#/components/headers/\(component)\"}"
        }
        let headers = ([commonHeaders] + own).joined(separator: ", ")
        return """
                  "\(answer.name)": {
                    "description": "\(answer.description)",
                    "headers": {\(headers)},
                    "content": {
                      "application/problem+json": {
                        "schema": {
                          "allOf": [
                            {"$ref": "#/components/schemas/Problem"}, {"properties": {"status": {"const": \(answer.status)}}}
                          ]
                        }
                      }
                    }
                  }
            """
    }

    /// The components that are header fields.
    static let headers = """
              "RequestID": {
                "required": true, "description": "The request's id in our logs: the client's own if it sent a sane one.",
                "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,128}$"}
              },
              "WWWAuthenticate": {
                "required": true, "description": "RFC 6750.", "schema": {"type": "string", "pattern": "^Bearer "}
              },
              "Accept": {"required": true, "schema": {"const": "application/json"}},
              "RetryAfter": {
                "required": true, "description": "Seconds to wait before another try.",
                "schema": {"type": "integer", "minimum": 1}
              },
              "RetryAfterIfKnown": {
                "description": "Seconds to wait before another try; absent if it is not known whether the first one succeeded.",
                "schema": {"type": "integer", "minimum": 1}
              }
        """
}
