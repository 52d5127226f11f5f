import ServiceKit
import Testing

@testable import Postgres
@testable import ServiceStore

/// What a plan says of an upgrade: how far it may go, and what each migration does to tables of a size.
struct MigrationReportTests {
    private static let old = MinorVersion.all[0]
    private static let now = MinorVersion.current
    private static let migrations = [
        Migration(number: 1, name: "tables", sql: "CREATE TABLE a (n int)"),
        Migration(number: 2, name: "patch", sql: "ALTER TABLE a ADD m int", release: old, effects: [.altered("a")]),
        Migration(
            number: 3,
            name: "changes",
            sql: "…",
            release: now,
            effects: [
                .altered("a"), TableEffect("b", .share, .scan), TableEffect("c", .accessExclusive, .rewrite),
                .validated("a"),
            ]
        ),
        Migration(number: 4, name: "index", concurrentIndex: "a_n", on: "a (n)", release: now),
    ]

    private func report(applied: Int, oldestProgram: MinorVersion? = nil) -> MigrationReport {
        let size = { (table: Int64, total: Int64) in
            MigrationPreview.TableSize(rows: 1_234_567, tableBytes: table, totalBytes: total)
        }
        let preview = MigrationPreview(
            appliedCount: applied,
            pending: Array(Self.migrations.dropFirst(applied)),
            notValidated: [],
            sizes: ["a": size(2_000_000_000, 3_000_000_000), "b": size(500_000_000, 500_000_000)],
            oldestProgram: oldestProgram
        )
        return MigrationReport(preview, service: "identity", migrations: Self.migrations)
    }

    @Test func `One minor version at a time is allowed, and a version between may not be left out`() {
        #expect(report(applied: 2).verdict == .allowed)
        #expect(report(applied: 3).verdict == .allowed)
        #expect(report(applied: 4).verdict == .upToDate)
        #expect(report(applied: 0).verdict == .new)
        #expect(report(applied: 5).verdict == .newerDatabase)
        let tooFar = report(applied: 1)
        #expect(tooFar.verdict == .tooFar && tooFar.versionToStart == "\(Self.old)" && !tooFar.verdict.isAllowed)
        #expect(tooFar.text.contains("NOT ALLOWED: versions between were left out."))
        let tooNew = report(applied: 9, oldestProgram: MinorVersion(99, 0))
        #expect(tooNew.verdict == .tooNew && tooNew.versionToStart == "99.0" && tooNew.steps.count == 0)
    }

    @Test func `A lock is held for all work of its transaction, at the rates that are stated`() {
        let report = report(applied: 2)
        #expect(report.database == .init(migration: 2, version: "\(Self.old)"))
        let tables = report.steps[0].tables
        // 0.5 GB at 100 MB/s; the new table `c` is empty.
        #expect(tables.map(\.lockSeconds) == [5, 5, 5, 20])
        #expect(tables.map(\.blocks) == ["all", "writes", "all", "nobody"])
        #expect(tables[2].totalBytes == nil)
        #expect(report.steps[1].tables.map(\.lockSeconds) == [80], "4 GB at 50 MB/s, outside of a transaction")
    }

    @Test func `The lines for people line up, and say how times were counted`() throws {
        let report = report(applied: 2)
        #expect(
            report.text == """
                identity: database at 2 (\(Self.old)), program at 4 (\(Self.now)): 2 migrations to run
                  3  changes
                     a  ACCESS EXCLUSIVE        reads and writes wait  catalog     1,234,567 rows, 3 GB    seconds
                     b  SHARE                   writes wait            scan        1,234,567 rows, 500 MB  seconds
                     c  ACCESS EXCLUSIVE        reads and writes wait  rewrite     new                     seconds
                     a  SHARE UPDATE EXCLUSIVE  nobody waits           validation  1,234,567 rows, 3 GB    tens of seconds
                  4  index
                     a  SHARE UPDATE EXCLUSIVE  nobody waits  concurrent index  1,234,567 rows, 3 GB  minutes
                """
        )
        let basis = try #require(MigrationReport.basis(of: [report]))
        #expect(
            basis.contains("concurrent index at 50 MB/s, rewrite at 20 MB/s, scan at 100 MB/s, validation at 100 MB/s")
        )
        #expect(MigrationReport.basis(of: [self.report(applied: 4)]) == nil)
        #expect(try MigrationReport(json: report.json()) == report)
    }
}
