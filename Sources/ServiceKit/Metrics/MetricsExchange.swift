/// One request and its answer, without I/O: HTTP/1.1 (RFC 9112) as far as a scrape needs it. The connection ends with the
/// answer.
struct MetricsExchange {
    /// Most bytes of a request's head.
    static let headBytesMax = 8192

    private var head: [UInt8] = []

    /// Takes bytes of the request; the answer, once it can be given.
    ///
    /// - Parameter text: makes the metrics.
    mutating func receive(_ bytes: ArraySlice<UInt8>, text: () -> String) -> [UInt8]? {
        // The end may stand across what came before and what comes now.
        let searchStart = max(0, head.count - 3)
        head += bytes
        guard head.count <= Self.headBytesMax else { return Self.answer("431 Request Header Fields Too Large") }
        guard Self.hasEnd(head[searchStart...]) else { return nil }
        let line = head.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return Self.answer("400 Bad Request") }
        guard words[1].prefix(while: { $0 != "?" }) == "/metrics" else { return Self.answer("404 Not Found") }
        switch words[0] {
        case "GET": return Self.answer("200 OK", type: MetricsText.contentType, body: text())
        case "HEAD": return Self.answer("200 OK", type: MetricsText.contentType, body: text(), sendsBody: false)
        default: return Self.answer("405 Method Not Allowed", more: "Allow: GET, HEAD\r\n")
        }
    }

    /// Whether an empty line is in it; RFC 9112 section 2.2 lets a line end with LF alone.
    private static func hasEnd(_ bytes: ArraySlice<UInt8>) -> Bool {
        var isLineEmpty = false
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                if isLineEmpty { return true }
                isLineEmpty = true
            } else if byte != UInt8(ascii: "\r") {
                isLineEmpty = false
            }
        }
        return false
    }

    private static func answer(
        _ status: String,
        type: String = "text/plain; charset=utf-8",
        body: String? = nil,
        sendsBody: Bool = true,
        more: String = ""
    ) -> [UInt8] {
        let body = body ?? "\(status.dropFirst(4))\n"
        let head = """
            HTTP/1.1 \(status)\r
            Content-Type: \(type)\r
            Content-Length: \(body.utf8.count)\r
            Cache-Control: no-store\r
            Connection: close\r
            \(more)\r

            """
        return Array((sendsBody ? head + body : head).utf8)
    }
}
