/// The report as a table for the terminal.
public enum SummaryTable {
    private static let percentiles = [50, 90, 99, 99.9]

    /// The lines, each with its end.
    public static func text(_ report: RunReport) -> String {
        var lines = [
            "",
            "\(report.plan.scenario.rawValue): \(report.plan.loopText), "
                + "\(Figures.fixed(report.measuredSeconds, 1)) s\(report.isInterrupted ? ", interrupted" : "")",
            report.plan.targetText,
            "",
            heading,
        ]
        let rows = report.rows.count > 1 ? report.rows + [report.total] : report.rows
        lines += rows.map { line($0, report) }
        let failures = report.total.statistics.failures.sorted
        if !failures.isEmpty {
            lines += ["", "errors"]
            lines += failures.map { failure, count in
                "\(Figures.right(Figures.count(count), 10))  \(failure.code) \(failure.reason)"
            }
        }
        lines += ["", ReportNotes.processor(report)] + ReportNotes.remarks(report)
        lines += ReportNotes.warnings(report).map { "warning: \($0)" }
        return lines.map { $0 + "\n" }.joined()
    }

    private static var heading: String {
        let latencies = ["p50", "p90", "p99", "p99.9", "longest"].map { Figures.right($0, 9) }
        return Figures.left("", 14) + Figures.right("calls", 11) + Figures.right("errors", 9)
            + Figures.right("calls/s", 10) + latencies.joined()
    }

    private static func line(_ row: RunReport.Row, _ report: RunReport) -> String {
        let latency = row.statistics.latency
        let values = percentiles.map { latency.nanoseconds(percentile: $0) } + [latency.maxNanoseconds]
        return Figures.left(row.name, 14) + Figures.right(Figures.count(row.statistics.callCount), 11)
            + Figures.right(Figures.count(row.statistics.failures.total), 9)
            + Figures.right(Figures.rate(report.ratePerSecond(row)), 10)
            + values.map { Figures.right(latency.count == 0 ? "-" : Figures.latency(nanoseconds: $0), 9) }.joined()
    }
}
