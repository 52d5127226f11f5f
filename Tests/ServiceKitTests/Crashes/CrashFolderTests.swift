import Foundation
import Testing

@testable import ServiceKit

/// The folder of crash reports.
struct CrashFolderTests {
    /// A folder for one test, removed with the object.
    final class Place: Sendable {
        let path = FileManager.default.temporaryDirectory.path + "/vestibule-crashes-\(UUID().uuidString)"

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

        func write(_ text: String, to path: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
    }

    static let report = "signal SIGSEGV\nversion 1\nseconds 1700000000\nrunning /a.A/M 77\nend\n"

    @Test func `A report is counted once, whichever process looks`() throws {
        let place = try Place()
        let folder = CrashFolder(path: place.path, program: "invites")
        #expect(try folder.collect().ledger.total == 0)
        try place.write(Self.report, to: folder.newReportPath())
        let first = try folder.collect()
        #expect(first.ledger.total == 1 && first.reports.first?.running?.method == "/a.A/M")
        let second = try CrashFolder(path: place.path, program: "invites").collect()
        #expect(second.ledger.total == 1 && second.reports.isEmpty)
        #expect(second.ledger.recent == [.init(seconds: 1_700_000_000, method: "/a.A/M")])
    }

    @Test func `Programs that share a folder count their own`() throws {
        let place = try Place()
        try place.write(Self.report, to: CrashFolder(path: place.path, program: "invites").newReportPath())
        #expect(try CrashFolder(path: place.path, program: "profile").collect().ledger.total == 0)
        #expect(try CrashFolder(path: place.path, program: "invites").collect().ledger.total == 1)
    }

    @Test func `A report that was cut counts as a crash`() throws {
        let place = try Place()
        let folder = CrashFolder(path: place.path, program: "invites")
        try place.write("signal SIGS", to: folder.newReportPath())
        let outcome = try folder.collect()
        #expect(outcome.ledger.total == 1 && outcome.ledger.recent.isEmpty)
    }

    @Test func `Reports of long ago go, and the sum stays`() throws {
        let place = try Place()
        let folder = CrashFolder(path: place.path, program: "invites")
        for _ in 0..<3 {
            for _ in 0..<CrashFolder.reportsKept { try place.write(Self.report, to: folder.newReportPath()) }
            _ = try folder.collect()
        }
        #expect(place.names.filter { $0.hasSuffix(".counted") }.count == CrashFolder.reportsKept)
        #expect(try folder.collect().ledger.total == UInt64(3 * CrashFolder.reportsKept))
    }

    @Test func `A folder that is not there is an error, and the program goes on without it`() throws {
        let folder = CrashFolder(path: "/nonexistent/crashes", program: "invites")
        #expect(throws: FileError.self) { try folder.collect() }
    }
}
