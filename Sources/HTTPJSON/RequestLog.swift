import Logging

/// What the log has of a request, one line each. The route's path as it is declared: no ids, no query, no address of a person.
public struct RequestLine: Sendable {
    /// The maximum of logged bytes of a method, since a client may send anything.
    static let methodBytesMax = 16

    /// The method as the client said it, its first 16 bytes; `none` where it could not be read.
    public let method: String
    /// The route's path; nil if none answered.
    public let route: String?
    /// The status of the answer.
    public let status: Int
    /// The problem's code, where one was answered.
    public let code: String?
    /// How long the answer took to make, in microseconds.
    public let microseconds: Int64
    /// The request's id.
    public let requestID: String
    /// The id of the trace that it is part of.
    public let traceID: String
}

/// Takes a line for each request, on the thread of its connection.
public protocol RequestLog: Sendable {
    /// Writes a line, without waiting.
    func write(_ line: RequestLine)
}

/// Writes the lines by a logger, at info.
struct LoggerRequestLog: RequestLog {
    let logger: Logger

    func write(_ line: RequestLine) {
        guard logger.logLevel <= .info else { return }
        var facts: Logger.Metadata = [
            "method": .string(line.method),
            "route": .string(line.route ?? "none"),
            "status": .stringConvertible(line.status),
            "microseconds": .stringConvertible(line.microseconds),
            "request_id": .string(line.requestID),
            "trace": .string(line.traceID),
        ]
        if let code = line.code { facts["code"] = .string(code) }
        logger.info("request", metadata: facts)
    }
}
