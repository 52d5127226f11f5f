import HTTPJSON
import HTTPTypes
import Logging
import ServiceKit
import Testing

@testable import GatewayService

struct RequestMetricsTests {
    private let metrics = RequestMetrics(routes: [
        Route(.get, "/me") { _, _ in Response(status: .ok) },
        Route(.get, "/groups/{id}/members") { _, _ in Response(status: .ok) },
    ])

    private var lines: [String] {
        var text = MetricsText()
        metrics.write(to: &text)
        let lines = text.text.split(separator: "\n").map(String.init)
        return lines.filter { $0.hasPrefix("vestibule_http_requests_total") }
    }

    private func count(_ method: String, _ route: Int?, _ status: Int) {
        metrics.count(RequestOutcome(method: method, route: route, status: status, tookNanoseconds: 2_000_000))
    }

    @Test func `Requests are counted by route, method and status, and timed`() {
        count("GET", 0, 200)
        count("GET", 0, 200)
        count("GET", 0, 401)
        count("HEAD", 1, 200)
        #expect(
            lines == [
                #"vestibule_http_requests_total{route="/groups/{id}/members",method="HEAD",status="200"} 1"#,
                #"vestibule_http_requests_total{route="/me",method="GET",status="200"} 2"#,
                #"vestibule_http_requests_total{route="/me",method="GET",status="401"} 1"#,
            ]
        )
        var text = MetricsText()
        metrics.write(to: &text)
        let times = #"vestibule_http_request_duration_seconds_bucket{route="/me",method="GET""#
        #expect(text.text.contains(times + #",le="0.001"} 0"#))
        #expect(text.text.contains(times + #",le="0.0025"} 3"#))
    }

    @Test func `All unknown HTTP methods are one series`() {
        for word in 0..<100 { count("BREW\(word)", nil, 404) }
        count("BREW", nil, 404)
        #expect(lines == [#"vestibule_http_requests_total{route="none",method="other",status="404"} 101"#])
    }
}
