import ServiceKit
import Testing
import WebPages

@testable import Console

/// Charts out of the programs' metrics.
struct ChartTests {
    private func program(_ text: String, _ name: String = "identity") -> ProgramStatus {
        ProgramStatus(program: name, address: HostPort(host: "127.0.0.1", port: 1), reading: MetricsReading(text: text))
    }

    private func signIns(_ count: Int, outcome: String = "signed_in") -> String {
        "vestibule_identity_sign_ins_total{provider=\"apple\",outcome=\"\(outcome)\",proof=\"nonce\"} \(count)\n"
    }

    private func latency(_ count: Int, _ seconds: Double) -> String {
        "vestibule_rpc_server_call_duration_seconds_count{method=\"a\"} \(count)\n"
            + "vestibule_rpc_server_call_duration_seconds_sum{method=\"a\"} \(seconds)\n"
    }

    @Test func `Rates are those between two readings, of all replicas together`() {
        let history = MetricsHistory()
        history.add([program(signIns(10)), program(signIns(5))], atSeconds: 100)
        #expect(history.points.isEmpty && history.latest?.atSeconds == 100)
        history.add([program(signIns(20)), program(signIns(15))], atSeconds: 105)
        #expect(history.points.map(\.values) == [[.signIns: ["apple: signed_in": 4]]])
    }

    @Test func `A latency is the mean of the calls between two readings`() {
        let history = MetricsHistory()
        history.add([program(latency(100, 1))], atSeconds: 0)
        history.add([program(latency(300, 2))], atSeconds: 5)
        history.add([program(latency(300, 2))], atSeconds: 10)
        #expect(history.points.map { $0.values[.latencies] } == [["identity": 5], nil])
    }

    @Test func `A program that was started anew, or doesn't answer, makes no rate`() {
        let history = MetricsHistory()
        history.add([program(signIns(100))], atSeconds: 0)
        history.add([program(signIns(3))], atSeconds: 5)
        let gone = ProgramStatus(program: "identity", address: HostPort(host: "127.0.0.1", port: 1), reading: nil)
        history.add([gone], atSeconds: 10)
        #expect(history.points.map(\.values) == [[:], [:]])
    }

    @Test func `No more than an hour is kept, and no more lines than can be distinguished`() {
        let history = MetricsHistory()
        for second in 0...MetricsHistory.countMax + 20 {
            let lines = (0..<30).map { signIns(second * ($0 + 1), outcome: "o\($0)") }.joined()
            history.add([program(lines)], atSeconds: Double(second))
        }
        #expect(history.points.count == MetricsHistory.countMax)
        let chart = LineChart(.signIns, history.points)
        #expect(chart.series.count == MetricsHistory.seriesMax)
        #expect(chart.series.contains { $0.name == "apple: o29" } && !chart.series.contains { $0.name == "apple: o0" })
    }

    @Test(arguments: [
        (0.0, 1.0), (-1, 1), (0.3, 0.5), (1, 1), (1.01, 2), (2.1, 5), (5.5, 10), (99, 100), (0.000_15, 0.000_2),
        (.infinity, 1),
        (.nan, 1),
    ])
    func `A scale ends at one, two or five times a power of ten`(value: Double, end: Double) {
        #expect(abs(LineChart.scale(value) - end) < end / 1e6)
    }

    @Test(arguments: [
        (0.0, "0"), (3, "3"), (1234.6, "1235"), (12.345, "12.3"), (1.2345, "1.23"), (0.001_23, "0.0012"), (.nan, "–"),
        (.infinity, "–"),
    ])
    func `A number has the digits that count`(value: Double, text: String) { #expect(LineChart.number(value) == text) }

    @Test func `A chart has a title, a description and its lines, and all text in it is escaped`() {
        let points = [(0.0, 1.0), (30, 3), (60, 2)]
        let chart = LineChart(
            id: "chart-x",
            title: "Rates <now>",
            unit: "per second",
            from: 0,
            to: 60,
            series: [LineChart.Series(name: "<script>", points: points)]
        )
        let text = chart.html.text
        #expect(text.contains("<title id=\"chart-x-title\">Rates &lt;now&gt;, per second</title>"))
        #expect(text.contains("aria-labelledby=\"chart-x-title chart-x-text\""))
        #expect(
            chart.description == "<script>: now 2, at most 3." && text.contains("&lt;script&gt;: now 2, at most 3.")
        )
        #expect(!text.contains("<script>") && text.contains("<path d=\"M56 172L384 92L712 132\" class=\"line s0\"/>"))
        #expect(text.contains("00:00 UTC") && text.contains("00:01 UTC"))
        let empty = LineChart(.refreshes, [])
        #expect(empty.html.text.contains("nothing was counted") && !empty.html.text.contains("nan"))
    }
}
