import Glibc
import HTTPJSON
import ServiceKit
import WebPages

/// How the system does, out of the programs' own metrics: queues of work, and charts of the last hour.
enum SystemPages {
    static let workPath = "/work"
    static let chartsPath = "/charts"

    static func routes(_ console: Console) -> [Route] {
        [
            console.page(workPath, .work, isByOperator: isByOperator) { visit in
                ConsolePage(
                    title: "Outbox and webhooks",
                    content: live(work(visit.console.history.latest)),
                    tab: .work,
                    isLive: true
                ).response(for: visit)
            },
            console.page(chartsPath, .charts, isByOperator: isByOperator) { visit in
                let points = visit.console.history.points
                let charts = ChartKind.allCases.map { LineChart($0, points).html }
                return ConsolePage(
                    title: "Charts",
                    content: live("\(findings(visit.console.history.latest))\(charts)"),
                    tab: .charts,
                    isLive: true
                ).response(for: visit)
            },
        ]
    }

    /// A page that asks for itself again is no use of the session.
    private static func isByOperator(_ request: Request) -> Bool { request.uri.query != "live=1" }

    /// The part that is replaced, and what pauses that.
    private static func live(_ content: HTML) -> HTML {
        """
        <p><button type="button" class="small" data-pause aria-pressed="false" hidden>Pause</button></p>
        <div data-part>
        \(content)</div>

        """
    }

    private static let unread: HTML = """
        <p>No metrics were read. The console reads those of the programs whose VESTIBULE_…_METRICS_LISTEN it knows.</p>

        """

    private static func findings(_ latest: MetricsHistory.Latest?) -> HTML {
        guard let latest else { return unread }
        let findings = Finding.findings(latest.programs, now: latest.atSeconds)
        guard !findings.isEmpty else { return "<p role=\"status\">Nothing needs attention.</p>\n" }
        let items = findings.map { finding -> HTML in
            let mark: HTML = finding.severity == .failure ? "<span class=\"failure\">failure:</span>" : "warning:"
            return "<li>\(mark) \(finding.subject) \(finding.problem)\(finding.mend.map { ": \($0)" } ?? "")</li>\n"
        }
        return "<div class=\"notice\" role=\"status\"><ul>\(items)</ul></div>\n"
    }

    private static func work(_ latest: MetricsHistory.Latest?) -> HTML {
        guard let latest else { return unread }
        var rows: [[HTML]] = []
        for program in latest.programs {
            guard let reading = program.reading else {
                rows.append(["\(program.program)", "<span class=\"failure\">does not answer</span>", "", "", "", ""])
                continue
            }
            for sample in reading.all("vestibule_work_waiting") {
                let labels = sample.labels
                func value(_ name: String) -> HTML { "\(LineChart.number(reading.sum(name, where: labels) ?? 0))" }
                rows.append([
                    "\(program.program)", "\(labels["queue"] ?? "")", "\(LineChart.number(sample.value))",
                    value("vestibule_work_oldest_age_seconds"), value("vestibule_work_parked"),
                    value("vestibule_work_failures_total"),
                ])
            }
        }
        let stopped = latest.programs.flatMap { $0.reading?.all("vestibule_identity_webhooks_stopped") ?? [] }
            .filter { $0.value > 0 }.map { $0.labels.values.sorted().joined(separator: ", ") }
        let gone: HTML =
            stopped.isEmpty
            ? ""
            : "<p class=\"failure\">Targets that answered that they are gone: \(Set(stopped).sorted().joined(separator: ", "))</p>\n"
        let heads = ["Program", "Queue", "Waiting", "Oldest, s", "Parked", "Failures since start"]
        return """
            \(ConsoleText.table("Queues; all replicas of a program show the same waiting items", heads, rows))\(gone)\
            <p class="hint">Items are retried and discarded by <code>vestibule work</code>.</p>

            """
    }
}
