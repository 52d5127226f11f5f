import Glibc

/// Latency by percentile on a logarithmic axis: each step to the right leaves a tenth of the calls.
enum LatencyChart {
    private static let stepsPerDecade = 24
    private static let marks: [(percentile: Double, text: String)] = [
        (0, "0 %"), (90, "90 %"), (99, "99 %"), (99.9, "99.9 %"), (99.99, "99.99 %"), (99.999, "99.999 %"),
    ]

    /// The image; nil without calls.
    static func svg(_ latency: LatencyHistogram) -> String? {
        guard latency.count > 0 else { return nil }
        // As many decades as the number of calls supports, up to 99.999 %.
        var decades = 1
        var reached: UInt64 = 10
        while reached < latency.count, decades < marks.count - 1 {
            reached *= 10
            decades += 1
        }
        let frame = ChartFrame(height: 300, largest: Double(latency.maxNanoseconds))
        let steps = decades * stepsPerDecade
        var left = 1.0
        let factor = pow(0.1, 1 / Double(stepsPerDecade))
        var points: [(x: Double, y: Double)] = []
        for step in 0...steps {
            let value = Double(latency.nanoseconds(percentile: 100 * (1 - left)))
            points.append((frame.x(Double(step) / Double(steps)), frame.y(value)))
            left *= factor
        }
        let axis = frame.valueAxis { Figures.latency(nanoseconds: UInt64($0)) }
        let labels = marks.prefix(decades + 1).enumerated().map { index, mark in
            frame.mark(mark.text, share: Double(index) / Double(decades))
        }
        return frame.picture("Latency by percentile", axis + labels.joined() + SVGText.path(points, series: "first"))
    }
}
