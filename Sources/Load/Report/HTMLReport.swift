import FoundationEssentials

/// The report as one self-contained page: without scripts, fonts or links. Well-formed XML too.
public enum HTMLReport {
    /// The page, UTF-8.
    public static func text(_ report: RunReport) -> String {
        let title = SVGText.escaped("vestibule load: \(report.plan.scenario.rawValue)")
        return """
            <!DOCTYPE html>
            <html xmlns="http://www.w3.org/1999/xhtml" lang="en">
            <head>
            <meta charset="utf-8"/>
            <meta name="viewport" content="width=device-width, initial-scale=1"/>
            <meta name="color-scheme" content="light dark"/>
            <title>\(title)</title>
            <style>
            \(style)
            </style>
            </head>
            <body>
            <h1>\(title)</h1>
            <p>\(SVGText.escaped(summary(report)))</p>
            \(warnings(report))\(table(report))\(errors(report))\(charts(report))\(notes(report))</body>
            </html>

            """
    }

    private static let style = """
        :root { --ink: #1b1f24; --soft: #59636e; --line: #d5dae0; --paper: #ffffff; --first: #0a66c2; --second: #b35c00; --bad: #c5221f; }
        @media (prefers-color-scheme: dark) {
        :root { --ink: #e6e9ec; --soft: #9aa4af; --line: #353c44; --paper: #14171a; --first: #62aef5; --second: #f0a04b; --bad: #ff7b72; }
        }
        body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
        h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 2rem 0 0.5rem; }
        .wide { overflow-x: auto; }
        table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
        th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
        th:first-child, td:first-child, td.text { text-align: left; }
        .warning { border-left: 4px solid var(--second); padding-left: 0.7rem; }
        .soft { color: var(--soft); }
        svg { width: 100%; height: auto; display: block; }
        svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
        .grid { stroke: var(--line); stroke-width: 1; }
        .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
        .line.first { stroke: var(--first); } .line.second { stroke: var(--second); } .line.bad { stroke: var(--bad); }
        .dot.first { fill: var(--first); } .dot.second { fill: var(--second); } .dot.bad { fill: var(--bad); }
        .key.first { color: var(--first); } .key.second { color: var(--second); }
        """

    private static func summary(_ report: RunReport) -> String {
        "\(report.plan.loopText); \(report.plan.targetText); measured for "
            + "\(Figures.fixed(report.measuredSeconds, 1)) s from \(Date(timeIntervalSince1970: Double(report.startedUnixSeconds)).formatted(.iso8601))"
            + (report.isInterrupted ? ", then interrupted." : ".")
    }

    private static func warnings(_ report: RunReport) -> String {
        ReportNotes.warnings(report).map { "<p class=\"warning\">\(SVGText.escaped($0))</p>\n" }.joined()
    }

    private static func table(_ report: RunReport) -> String {
        let percentiles: [(text: String, value: Double)] = [
            ("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9), ("p99.99", 99.99), ("longest", 100),
        ]
        let heads = ["", "calls", "errors", "calls/s"] + percentiles.map(\.text)
        let rows = (report.rows.count > 1 ? report.rows + [report.total] : report.rows).map { row in
            let latency = row.statistics.latency
            let cells =
                [
                    row.name, Figures.count(row.statistics.callCount), Figures.count(row.statistics.failures.total),
                    Figures.rate(report.ratePerSecond(row)),
                ]
                + percentiles.map { percentile in
                    let value = latency.nanoseconds(percentile: percentile.value)
                    return latency.count == 0 ? "–" : Figures.latency(nanoseconds: value)
                }
            return "<tr>" + cells.map { "<td>\(SVGText.escaped($0))</td>" }.joined() + "</tr>\n"
        }
        let head = heads.map { "<th>\(SVGText.escaped($0))</th>" }.joined()
        return "<div class=\"wide\"><table>\n<tr>\(head)</tr>\n\(rows.joined())</table></div>\n"
    }

    private static func errors(_ report: RunReport) -> String {
        let failures = report.total.statistics.failures.sorted
        guard !failures.isEmpty else { return "" }
        let rows = failures.map { failure, count in
            "<tr><td>\(SVGText.escaped(failure.code))</td><td>\(Figures.count(count))</td>"
                + "<td class=\"text\">\(SVGText.escaped(failure.reason))</td></tr>\n"
        }
        return "<h2>Errors</h2>\n<div class=\"wide\"><table>\n<tr><th>code</th><th>calls</th><th>reason</th></tr>\n"
            + "\(rows.joined())</table></div>\n"
    }

    private static func charts(_ report: RunReport) -> String {
        let key = "<span class=\"key first\">p50</span> and <span class=\"key second\">p99</span>"
        let charts: [(title: String, picture: String?)] = [
            ("Latency by percentile", LatencyChart.svg(report.total.statistics.latency)),
            ("Successful calls per second", TimelineCharts.rate(report.seconds)),
            ("Latency per second: \(key)", TimelineCharts.latency(report.seconds)),
            ("Errors per second", TimelineCharts.errors(report.seconds)),
        ]
        return charts.compactMap { title, picture in picture.map { "<h2>\(title)</h2>\n\($0)" } }.joined()
    }

    private static func notes(_ report: RunReport) -> String {
        let notes = [ReportNotes.processor(report)] + ReportNotes.remarks(report)
        return notes.map { "<p class=\"soft\">\(SVGText.escaped($0))</p>\n" }.joined()
    }
}
