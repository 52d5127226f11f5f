import FoundationEssentials
import HTTPTypes
import JOSE
import Logging
import RPC

/// What a route knows of the request that it answers, beside the request.
public struct RouteContext: Sendable {
    /// The request's id: the client's if it sent a sane one, else made here.
    public internal(set) var requestID = ""
    /// Where the request stands in a distributed trace: the client's if it said one, else one that begins here. Nil until
    /// the request is on its way to its route.
    public internal(set) var trace: TraceContext?
    /// When the answer must be there; calls to services are given what is left of it.
    public internal(set) var deadline = Deadline.now()
    /// The bounds of this server.
    public internal(set) var limits = HTTPLimits()
    /// A logger whose lines have the request's id and trace.
    public internal(set) var logger: Logger
    /// What stands in the places of the path's variables.
    public internal(set) var parameters = RouteParameters()
    /// The route's path as it is declared; nil if none answers the request's.
    public internal(set) var endpointPath: String?
    /// The address of the connection's other end, with its port; empty in tests without sockets.
    public internal(set) var peerAddress = ""
    let chunks: AsyncThrowingStream<[UInt8], any Error>
    let drop: @Sendable () -> Void

    /// Closes the connection at once, without an answer: for tests of what clients do then.
    public func dropConnection() { drop() }
}

extension RouteContext {
    /// The request's body, which must be a JSON object of type application/json.
    ///
    /// - Throws: `Problem` 400 for anything but strict JSON (RFC 8259, no duplicate names), 408 if the body does not
    ///   come in time, 413 if it is too large, 415 for another content type.
    public func json(_ request: Request) async throws -> JSONInput {
        let bytes = try await body(request)
        guard !bytes.isEmpty else {
            throw Problem(.badRequest, code: "JSON_MALFORMED", detail: "The body must be a JSON object.")
        }
        return try parse(bytes, of: request)
    }

    /// As ``json(_:)``, but the body may be empty: then nil.
    public func optionalJSON(_ request: Request) async throws -> JSONInput? {
        let bytes = try await body(request)
        return bytes.isEmpty ? nil : try parse(bytes, of: request)
    }

    /// The request's body, which must be a form of type application/x-www-form-urlencoded.
    ///
    /// - Throws: `Problem` 400 for what is no form, 408 if the body does not come in time, 413 if it is too large, 415 for
    ///   another content type.
    public func form(_ request: Request) async throws -> FormFields {
        let bytes = try await body(request)
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
            return JSONInput(try JSONObject(parsing: bytes, limits: JSONLimits(bytesMax: limits.bodyBytesMax)))
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

    private func body(_ request: Request) async throws -> [UInt8] {
        if let length = request.headers[.contentLength].flatMap(Int.init), length > limits.bodyBytesMax {
            throw Self.bodyTooLarge
        }
        let body = chunks
        let bytesMax = limits.bodyBytesMax
        let wait = deadline.remaining
        return try await withThrowingTaskGroup(of: [UInt8].self) { group in
            group.addTask {
                var bytes: [UInt8] = []
                do {
                    for try await chunk in body {
                        guard bytes.count + chunk.count <= bytesMax else { throw Self.bodyTooLarge }
                        bytes.append(contentsOf: chunk)
                    }
                } catch let problem as Problem {
                    throw problem
                } catch {
                    // A body that is no HTTP, or a connection that ended before it: nothing of ours has failed.
                    try Task.checkCancellation()
                    throw Self.bodyMalformed(cause: error)
                }
                // A cancelled read looks like the end of the body.
                try Task.checkCancellation()
                return bytes
            }
            group.addTask {
                try await Task.sleep(for: wait)
                throw Problem(
                    .requestTimeout,
                    code: "REQUEST_TIMEOUT",
                    detail: "The body did not come in time.",
                    closesConnection: true
                )
            }
            defer { group.cancelAll() }
            guard let bytes = try await group.next() else { throw CancellationError() }
            return bytes
        }
    }

    private static func bodyMalformed(cause: any Error) -> Problem {
        Problem(
            .badRequest,
            code: "BODY_MALFORMED",
            detail: "The body does not have the form that its header fields promise.",
            closesConnection: true,
            cause: cause
        )
    }

    private static let bodyTooLarge = Problem(
        .contentTooLarge,
        code: "BODY_TOO_LARGE",
        detail: "The body is too large.",
        closesConnection: true
    )
}
