import Testing

@testable import LocalStack

struct DrillReportTests {
    private static func report(_ change: (inout DrillReport) -> Void = { _ in }) -> DrillReport {
        var report = DrillReport(
            filesBack: .seconds(4),
            serving: .milliseconds(12_300),
            servingMax: .seconds(60),
            accounts: 1010,
            accountsBefore: 1000,
            comparison: DrillComparison(accounts: 10, names: 10, deletions: 2, lost: [], liveSessions: 0),
            newestCommit: "2026-11-28 09:24:24+00"
        )
        change(&report)
        return report
    }

    @Test func `What passes says so by having no faults`() {
        let report = Self.report()
        #expect(report.faults.isEmpty)
        #expect(report.lines.contains("serving after      12.3 s more, of at most 60.0 s"))
        #expect(report.lines.contains("writes             22 acknowledged, 0 missing"))
    }

    @Test func `A write of the last moment may be missing, an older one may not`() {
        let young = Self.report { $0.comparison?.lost = [.milliseconds(3), .milliseconds(40)] }
        #expect(young.faults.isEmpty)
        #expect(young.lines.contains("writes             22 acknowledged, 2 missing, the oldest 40 ms before the end"))
        let old = Self.report { $0.comparison?.lost = [.milliseconds(3), .milliseconds(1001)] }
        #expect(old.faults == ["1 missing writes were acknowledged more than 1.0 s before the end"])
    }

    @Test func `Each fault fails a drill`() {
        let late = Self.report { $0.serving = .milliseconds(60_100) }
        #expect(late.faults == ["the services answered 60.1 s after the files were back"])
        let short = Self.report { $0.accounts = 998 }
        #expect(short.faults == ["2 accounts of the backup are missing"])
        let signedIn = Self.report { $0.comparison?.liveSessions = 1 }
        #expect(signedIn.faults == ["1 sessions from before are alive"])
        let idle = Self.report { $0.comparison = DrillComparison() }
        #expect(idle.faults == ["no call was acknowledged before the end"])
    }

    @Test func `A drill of another system's backups has nothing to compare`() {
        let report = Self.report {
            $0.accountsBefore = nil
            $0.comparison = nil
            $0.newestCommit = ""
        }
        #expect(report.faults.isEmpty)
        #expect(report.lines.count == 3 && report.lines[2] == "accounts           1010")
    }
}
