/// Notes for readers of the figures; the same in the table and on the page.
enum ReportNotes {
    /// The load generator's own use of the processors.
    static func processor(_ report: RunReport) -> String {
        let share = report.processor
        let perCall = report.microsecondsPerCall.map { ", \(Figures.fixed($0, 2)) µs a call" } ?? ""
        return "the load generator used \(Figures.fixed(share.cores, 2)) of \(share.machineCores) cores\(perCall); "
            + "its busiest thread \(Figures.fixed(share.busiestThread * 100, 0)) % of one"
    }

    /// Warnings about figures that may be misleading.
    static func warnings(_ report: RunReport) -> [String] {
        var warnings: [String] = []
        if report.processor.isLimit {
            warnings.append(
                "a thread of the load generator was always busy: the figures may be its limit and not the "
                    + "server's; try --threads \(report.plan.threadCount + 1)"
            )
        }
        if let arrivals = report.arrivals { warnings += arrivalWarnings(arrivals) }
        if report.side.lateTokenCount > 0 {
            warnings.append(
                "\(Figures.count(report.side.lateTokenCount)) provider tokens were fetched during the run, because the "
                    + "prepared ones were used up; prepare more with --tokens"
            )
        }
        let isLimited = report.rows.contains { row in
            row.statistics.failures.sorted.contains { $0.failure.reason == "RATE_LIMITED" }
        }
        if isLimited {
            warnings.append(
                "the gateway limits requests by client address and account: for such a test start it with higher "
                    + "VESTIBULE_GATEWAY_AUTH_PER_SECOND and VESTIBULE_GATEWAY_AUTH_BURST, and the same of ADDRESS, "
                    + "ACCOUNT and CHANGES"
            )
        }
        return warnings
    }

    private static func arrivalWarnings(_ arrivals: RunReport.Arrivals) -> [String] {
        var warnings: [String] = []
        if arrivals.droppedCount > 0 {
            warnings.append(
                "\(Figures.count(arrivals.droppedCount)) calls were not made, because the queue was full; they count "
                    + "as errors"
            )
        }
        if arrivals.waitingAtEndCount > 0 {
            warnings.append("\(Figures.count(arrivals.waitingAtEndCount)) calls still waited to begin at the end")
        }
        return warnings
    }

    /// Events beside the measured calls.
    static func remarks(_ report: RunReport) -> [String] {
        let side = report.side
        let counts: [(Int, String)] = [
            (side.expiredTokenCount, "expired access tokens were refreshed, and the call repeated"),
            (side.renewedProofCount, "calls to profile needed a CheckSession first, for a proof of the user"),
            (side.resumedRefreshCount, "refreshes went on with the same token after a lost answer"),
            (side.repeatedSignInCount, "accounts signed in again because their session had ended"),
        ]
        let remarks = counts.filter { $0.0 > 0 }.map { "\(Figures.count($0.0)) \($0.1)" }
        guard let arrivals = report.arrivals, arrivals.lateCount > 0 else { return remarks }
        return remarks + [
            "\(Figures.count(arrivals.lateCount)) calls began more than "
                + "\(Figures.latency(nanoseconds: RunReport.lateNanoseconds)) late, at most "
                + "\(Figures.latency(nanoseconds: arrivals.delayNanosecondsMax)): all workers were waiting, or the "
                + "thread was busy; latencies count from the intended start"
        ]
    }
}
