import HTTPJSON
import Logging
import ServiceKit

/// Writes a line for each request, its facts in the order of their names.
package struct RequestLines: RequestLog {
    private let lines: FactLog

    /// Lines go to a logger, at info.
    package init(_ logger: Logger) { lines = FactLog(logger) }

    package func write(_ line: RequestLine) {
        lines.log(.info, "request") { facts in
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
