import FoundationEssentials
import HTTP
import HTTPTypes
import JOSE
import Logging
import RPC

/// What a route knows of the request that it answers, beside the request.
public struct RouteContext: Sendable {
    private let call: RouteCall

    init(_ call: RouteCall) { self.call = call }

    /// The request's id: the client's if it sent a sane one, else made here.
    public var requestID: String { call.requestID }
    /// Where the request stands in a distributed trace: the client's if it said one, else one that begins here.
    public var trace: TraceContext { call.trace }
    /// When the request began.
    public var start: Deadline { call.start }
    /// When the answer must be there; calls to services are given what is left of it.
    public var deadline: Deadline { call.deadline }
    /// The bounds of this server.
    public var limits: HTTPLimits { call.handler.configuration.limits }
    /// A logger whose lines have the request's id and trace.
    public var logger: Logger { call.logger }
    /// The place of the route that answers, among those that the handler was made with; nil if none answers.
    public var routeIndex: Int? { call.entry?.index }
    /// The route's path as it is declared; nil if none answers.
    public var endpointPath: String? { call.entry?.route.path }
    /// The other end of the connection.
    public var peer: PeerInfo { call.exchange.peer }

    /// What stands in the places of the path's variables.
    public var parameters: RouteParameters {
        guard let entry = call.entry, let match = call.match else { return RouteParameters() }
        let path = call.exchange.head.target.utf8
        let values = match.values.map { range in
            path[
                path.index(
                    path.startIndex,
                    offsetBy: range.lowerBound
                )..<path.index(path.startIndex, offsetBy: range.upperBound)
            ]
        }
        return RouteParameters(names: entry.variables, values: values.map(Substring.init))
    }

    /// Closes the connection at once, without an answer: for tests of what clients do then.
    public func dropConnection() { call.exchange.reset() }
}

extension RouteContext {
    /// The request's body, which must be a JSON object of type application/json.
    ///
    /// - Throws: `Problem` 400 for anything but strict JSON (RFC 8259, no duplicate names), 408 if the body does not
    ///   come in time, 413 if it is too large, 415 for another content type.
    public func json(_ request: Request) async throws -> JSONInput {
        let bytes = try await body()
        guard !bytes.isEmpty else {
            throw Problem(.badRequest, code: "JSON_MALFORMED", detail: "The body must be a JSON object.")
        }
        return try parse(bytes, of: request)
    }

    /// As ``json(_:)``, but the body may be empty: then nil.
    public func optionalJSON(_ request: Request) async throws -> JSONInput? {
        let bytes = try await body()
        return bytes.isEmpty ? nil : try parse(bytes, of: request)
    }

    /// The request's body, which must be a form of type application/x-www-form-urlencoded.
    ///
    /// - Throws: `Problem` 400 for what is no form, 408 if the body does not come in time, 413 if it is too large, 415 for
    ///   another content type.
    public func form(_ request: Request) async throws -> FormFields {
        let bytes = try await body()
        guard Self.essence(request.headers[.contentType]) == "application/x-www-form-urlencoded" else {
            throw Problem(
                .unsupportedMediaType,
                code: "CONTENT_TYPE_UNSUPPORTED",
                detail: "The body must be application/x-www-form-urlencoded.",
                headers: [.accept: "application/x-www-form-urlencoded"]
            )
        }
        do {
            return try FormFields(parsing: bytes)
        } catch {
            throw Problem(.badRequest, code: "FORM_MALFORMED", detail: "The body is no form.", cause: error)
        }
    }

    /// The request's body, which must be a text of a media type.
    ///
    /// - Parameter type: the media type, in small letters and without parameters.
    /// - Throws: `Problem` 400 for what is no UTF-8, 408 if the body does not come in time, 413 if it is too large, 415 for
    ///   another content type.
    public func text(_ request: Request, type: String) async throws -> String {
        let bytes = try await body()
        guard Self.essence(request.headers[.contentType]) == type else {
            throw Problem(
                .unsupportedMediaType,
                code: "CONTENT_TYPE_UNSUPPORTED",
                detail: "The body must be \(type).",
                headers: [.accept: type]
            )
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Problem(.badRequest, code: "TEXT_MALFORMED", detail: "The body must be UTF-8.")
        }
        return text
    }

    /// The request's body, which must be of one of these media types.
    ///
    /// - Parameter types: the media types, in small letters and without parameters.
    /// - Throws: `Problem` 408 if the body does not come in time, 413 if it is too large, 415 for another content type.
    public func bytes(_ request: Request, types: [String]) async throws -> [UInt8] {
        let bytes = try await body()
        guard let type = Self.essence(request.headers[.contentType]), types.contains(type) else {
            throw Problem(
                .unsupportedMediaType,
                code: "CONTENT_TYPE_UNSUPPORTED",
                detail: "The body must be \(types.joined(separator: ", ")).",
                headers: [.accept: types.joined(separator: ", ")]
            )
        }
        return bytes
    }

    private func parse(_ bytes: [UInt8], of request: Request) throws(Problem) -> JSONInput {
        guard Self.isJSON(request.headers[.contentType]) else {
            throw Problem(
                .unsupportedMediaType,
                code: "CONTENT_TYPE_UNSUPPORTED",
                detail: "The body must be application/json.",
                headers: [.accept: "application/json"]
            )
        }
        do {
            let object = try JSONObject(parsing: bytes, limits: JSONLimits(bytesMax: limits.bodyBytesMax))
            return JSONInput(object, fields: call.entry?.route.bodyFields)
        } catch {
            throw Problem(.badRequest, code: "JSON_MALFORMED", detail: Self.detail(error), cause: error)
        }
    }

    private static func detail(_ error: JSONError) -> String {
        switch error {
        case .tooLarge: "The body is too large."
        case .tooDeep: "The body is nested too deeply."
        case .tooManyValues: "The body holds too many values."
        case .duplicateMember: "The body names a member twice."
        case .syntax(let byteOffset): "The body is not JSON at byte \(byteOffset)."
        case .notAnObject: "The body must be a JSON object."
        }
    }

    /// `application/json`, whatever its parameters: RFC 8259 section 11 defines none.
    private static func isJSON(_ contentType: String?) -> Bool {
        essence(contentType) == "application/json"
    }

    /// A media type without its parameters, in small letters.
    private static func essence(_ contentType: String?) -> String? {
        contentType?.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
    }

    private func body() async throws -> [UInt8] {
        if let length = call.exchange.head.contentLength, length > call.bodyBytesMax { throw Self.bodyTooLarge }
        guard let body = call.body else { return [] }
        let (bytes, end) = await body.collected()
        switch end {
        case .whole: return bytes
        case .tooLarge: throw Self.bodyTooLarge
        // A body that is no HTTP: nothing of ours has failed.
        case .malformed: throw Self.bodyMalformed
        case .late: throw Self.bodyLate
        case .gone: throw CancellationError()
        }
    }

    private static let bodyLate = Problem(
        .requestTimeout,
        code: "REQUEST_TIMEOUT",
        detail: "The body did not come in time.",
        closesConnection: true
    )

    private static let bodyMalformed = Problem(
        .badRequest,
        code: "BODY_MALFORMED",
        detail: "The body does not have the form that its header fields promise.",
        closesConnection: true
    )

    private static let bodyTooLarge = Problem(
        .contentTooLarge,
        code: "BODY_TOO_LARGE",
        detail: "The body is too large.",
        closesConnection: true
    )
}
