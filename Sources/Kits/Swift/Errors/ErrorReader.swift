import Foundation

/// Reads errors from responses: Connect's JSON of calls, the problems of routes (RFC 9457), and those of OAuth's endpoints (RFC 6749
/// section 5.2). Each has its own form: what has another one is a portal's or a proxy's.
enum ErrorReader {
    private static let domain = "vestibule"
    private static let retryAfterSecondsMax = 86_400.0

    /// The error of a response to a call.
    static func error(ofCall response: HTTPResponse) -> VestibuleError {
        error(of: response) { connect($0, status: response.status) }
    }

    /// The error of a response of a route.
    static func error(ofRoute response: HTTPResponse) -> VestibuleError {
        error(of: response) { problem($0, status: response.status) }
    }

    /// The error of a response of OAuth's endpoints.
    static func error(ofForm response: HTTPResponse) -> VestibuleError {
        error(of: response) { object in
            guard let name = object.text("error") else { return nil }
            let code = VestibuleError.Code(rawValue: name.uppercased())
            let isPassing = response.status == 429 || response.status >= 500
            return VestibuleError(
                code,
                object.text("error_description") ?? name,
                action: code == .invalidGrant ? .signInAgain : isPassing ? .wait : .fixRequest,
                status: response.status
            )
        }
    }

    private static func error(
        of response: HTTPResponse,
        _ read: (JSONObject) -> VestibuleError?
    ) -> VestibuleError {
        var error = (try? JSONObject(parsing: response.body)).flatMap(read) ?? other(status: response.status)
        if error.retryAfter == nil, let seconds = retryAfterSeconds(response.headers), seconds >= 0 {
            error.retryAfter = .seconds(min(seconds, retryAfterSecondsMax))
        }
        return error
    }

    /// A number, or a date (RFC 9110 section 10.2.3), which is compared with the response's own: this device's may be wrong.
    private static func retryAfterSeconds(_ headers: [String: String]) -> Double? {
        guard let text = headers["retry-after"] else { return nil }
        guard let date = Timestamp.date(http: text) else { return Double(text) }
        return date.timeIntervalSince(headers["date"].flatMap(Timestamp.date(http:)) ?? Date())
    }

    /// The error that a stream ended with: the member `error` of the last envelope.
    static func error(ofStream object: JSONObject) -> VestibuleError {
        connect(object, status: status(of: object.text("code") ?? "")) ?? .badResponse(status: nil)
    }

    /// Connect's error, if it is the server's own.
    private static func connect(_ object: JSONObject, status: Int) -> VestibuleError? {
        let details = object.objects("details")
        func detail(_ name: String) -> JSONObject? {
            details.first { $0.text("type") == "google.rpc.\(name)" }?.object("debug")
        }
        guard let info = detail("ErrorInfo"), info.text("domain") == domain, let reason = info.text("reason") else {
            return nil
        }
        var error = VestibuleError(.init(rawValue: reason), object.text("message") ?? reason, status: status)
        for violation in detail("BadRequest")?.objects("fieldViolations") ?? [] {
            guard let field = violation.text("field") else { continue }
            error.fields[fieldName(field)] = VestibuleError.FieldFault(
                code: .init(rawValue: violation.text("reason") ?? reason),
                message: violation.text("description") ?? ""
            )
        }
        error.retryAfter = detail("RetryInfo")?.text("retryDelay").flatMap(seconds)
        for (name, value) in info.object("metadata")?.members ?? [:] {
            if case .text(let text) = value { error.metadata[name] = text }
        }
        return error
    }

    /// The problem of a route.
    private static func problem(_ object: JSONObject, status: Int) -> VestibuleError? {
        guard let code = object.text("code"), code.utf8.allSatisfy(isOfCode), object.text("type") != nil else {
            return nil
        }
        let message = object.text("detail") ?? object.text("title") ?? code
        var error = VestibuleError(.init(rawValue: code), message, status: status)
        for fault in object.objects("fields") {
            guard let field = fault.text("field") else { continue }
            error.fields[fieldName(field)] = VestibuleError.FieldFault(
                code: .init(rawValue: fault.text("code") ?? code),
                message: fault.text("detail") ?? ""
            )
        }
        return error
    }

    /// `displayName` for `display_name`.
    private static func fieldName(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    private static func isOfCode(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func other(status: Int) -> VestibuleError {
        guard status == 429 || status >= 500 else { return .badResponse(status: status) }
        return VestibuleError(.unavailable, "The server answered \(status).", action: .retry, status: status)
    }

    /// A duration of protobuf's JSON: `1.5s`.
    private static func seconds(_ text: String) -> Duration? {
        guard text.hasSuffix("s"), let seconds = Double(text.dropLast()), seconds >= 0 else { return nil }
        return .seconds(min(seconds, retryAfterSecondsMax))
    }

    /// The HTTP status that Connect gives a code of gRPC.
    private static func status(of code: String) -> Int {
        switch code {
        case "canceled": 499
        case "invalid_argument", "failed_precondition", "out_of_range": 400
        case "unauthenticated": 401
        case "permission_denied": 403
        case "not_found": 404
        case "already_exists", "aborted": 409
        case "resource_exhausted": 429
        case "unimplemented": 501
        case "unavailable": 503
        case "deadline_exceeded": 504
        default: 500
        }
    }
}
