import Testing

@testable import ServiceKit

struct MetricsExchangeTests {
    private func answer(_ request: String, byteCount: Int? = nil) -> String? {
        var exchange = MetricsExchange()
        let bytes = Array(request.utf8)
        for start in stride(from: 0, to: bytes.count, by: byteCount ?? max(1, bytes.count)) {
            let end = min(bytes.count, start + (byteCount ?? bytes.count))
            if let answer = exchange.receive(bytes[start..<end], text: { "metrics 1\n" }) {
                return String(decoding: answer, as: UTF8.self)
            }
        }
        return nil
    }

    @Test(arguments: [nil, 1, 2, 3, 7])
    func `Answers metrics to a request whole and byte by byte, with CRLF and with LF`(byteCount: Int?) throws {
        for request in ["GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", "GET /metrics?x=1 HTTP/1.0\nHost: a\n\n"] {
            let answer = try #require(self.answer(request, byteCount: byteCount))
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
            #expect(answer.contains("\r\nContent-Length: 10\r\n"))
            #expect(answer.hasSuffix("\r\nConnection: close\r\n\r\nmetrics 1\n"))
        }
    }

    @Test func `HEAD tells the length and sends nothing`() throws {
        let answer = try #require(self.answer("HEAD /metrics HTTP/1.1\r\n\r\n"))
        #expect(answer.contains("\r\nContent-Length: 10\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n"))
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", "404 Not Found"), ("GET /metricsx HTTP/1.1\r\n\r\n", "404 Not Found"),
        ("POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"), ("hello\r\n\r\n", "400 Bad Request"),
        ("GET /metrics\r\n\r\n", "400 Bad Request"), ("GET  /metrics HTTP/1.1\r\n\r\n", "400 Bad Request"),
        ("\r\n\r\n", "400 Bad Request"), ("GET /metrics HTTP/2.0\r\n\r\n", "400 Bad Request"),
    ]
    )
    func `Anything else is refused`(request: String, status: String) throws {
        let answer = try #require(self.answer(request))
        #expect(answer.hasPrefix("HTTP/1.1 \(status)\r\n"))
        #expect(answer.contains("Allow: GET, HEAD\r\n") == status.hasPrefix("405"))
    }

    @Test func `A head that does not end is waited for up to its maximum, and then refused`() throws {
        #expect(answer("GET /metrics HTTP/1.1\r\nHost: a\r\n") == nil)
        let long = "GET /metrics HTTP/1.1\r\nx: " + String(repeating: "a", count: MetricsExchange.headBytesMax)
        let answer = try #require(self.answer(long, byteCount: 1000))
        #expect(answer.hasPrefix("HTTP/1.1 431 "))
    }
}
