/// Charts of rate, latencies and errors per second.
enum TimelineCharts {
    /// The maximum of points; in a longer run each stands for several seconds.
    static let pointsMax = 600
    private static let height = 190.0

    /// One point of a chart.
    struct Point {
        let second: Int
        let rate: Double
        let failures: Double
        let p50: Double
        let p99: Double
    }

    static func rate(_ seconds: [RunReport.Second]) -> String? {
        chart("Successful calls per second", seconds, label: Figures.rate, [("first", \.rate)])
    }

    static func latency(_ seconds: [RunReport.Second]) -> String? {
        chart(
            "Latency: p50 and p99",
            seconds,
            label: { Figures.latency(nanoseconds: UInt64($0)) },
            [("first", \.p50), ("second", \.p99)]
        )
    }

    static func errors(_ seconds: [RunReport.Second]) -> String? {
        chart("Errors per second", seconds, label: Figures.rate, [("bad", \.failures)])
    }

    /// At most `pointsMax` points: the mean of the rates and the maximum of the latencies, so that stalls stay visible.
    static func points(_ seconds: [RunReport.Second]) -> [Point] {
        let group = (seconds.count + pointsMax - 1) / pointsMax
        guard group > 0 else { return [] }
        return stride(from: 0, to: seconds.count, by: group).map { start in
            let part = seconds[start..<min(start + group, seconds.count)]
            return Point(
                second: part.first?.index ?? 0,
                rate: part.reduce(0) { $0 + $1.ratePerSecond } / Double(part.count),
                failures: part.reduce(0) { $0 + $1.failuresPerSecond } / Double(part.count),
                p50: Double(part.map(\.p50Nanoseconds).max() ?? 0),
                p99: Double(part.map(\.p99Nanoseconds).max() ?? 0)
            )
        }
    }

    private static func chart(
        _ title: String,
        _ seconds: [RunReport.Second],
        label: (Double) -> String,
        _ series: [(name: String, value: KeyPath<Point, Double>)]
    ) -> String? {
        let points = points(seconds)
        guard let last = points.last else { return nil }
        let largest = series.flatMap { series in points.map { $0[keyPath: series.value] } }.max() ?? 0
        let frame = ChartFrame(height: height, largest: largest)
        let span = Double(max(last.second, 1))
        var content = frame.valueAxis(label)
        for second in Set([0, last.second / 4, last.second / 2, last.second * 3 / 4, last.second]).sorted() {
            content += frame.mark("\(second) s", share: Double(second) / span)
        }
        for series in series {
            let places = points.map { (x: frame.x(Double($0.second) / span), y: frame.y($0[keyPath: series.value])) }
            content += SVGText.path(places, series: series.name)
        }
        return frame.picture(title, content)
    }
}
