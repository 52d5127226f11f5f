import HTTPJSON
import Logging
import ServiceKit

/// Writes the line of each request as the program's log has lines.
package struct ServiceRequestLog: RequestLog {
    private let lines: FactLog

    /// Lines of a program's logger.
    package init(_ logger: Logger) { lines = FactLog(logger, "request") }

    package func write(_ line: RequestLine) {
        lines.log(.info) { facts in
            if let code = line.code { facts.add("code", code) }
            facts.add("method", line.method)
            facts.add("microseconds", line.microseconds)
            facts.add("request_id", line.requestID)
            facts.add("route", line.route ?? "none")
            facts.add("status", Int64(line.status))
            facts.add("trace", line.traceID)
        }
    }
}
