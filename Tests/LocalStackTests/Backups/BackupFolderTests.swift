import Foundation
import ServiceKit
import Testing

@testable import Backup

struct BackupFolderTests {
    /// A folder with backups of these names, which begin at these segments.
    private func folder(_ path: String, _ backups: [(name: String, segment: String)]) throws -> BackupFolder {
        let folder = BackupFolder(path: path)
        try folder.make()
        for (name, segment) in backups {
            try FileManager.default.createDirectory(atPath: folder.base(name), withIntermediateDirectories: false)
            try BackupRecord(
                format: 1,
                name: name,
                endedAt: Date(timeIntervalSince1970: Double(name.suffix(2)) ?? 0),
                systemIdentifier: "1",
                majorVersion: 15,
                firstSegment: segment,
                bytes: 1,
                program: "test"
            ).write(inFolder: folder.base(name))
        }
        return folder
    }

    private func add(_ files: [String], to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for file in files { try Data().write(to: URL(fileURLWithPath: "\(folder)/\(file)")) }
    }

    private func segment(_ number: Int) -> String { "00000001000000000000000\(number)" }

    @Test func `The newest backup that was complete at a time is chosen, and one that is being made never`() throws {
        let temporary = try TemporaryFolder()
        let folder = try folder(temporary.path + "/b", [("b10", segment(1)), ("b20", segment(2)), ("b30", segment(3))])
        try add(["base.tar.gz"], to: folder.base("b40"))
        func name(_ seconds: Double?) throws -> String {
            try folder.backup(named: nil, endedBy: seconds.map { Date(timeIntervalSince1970: $0) }).name
        }
        #expect(try name(nil) == "b30" && name(30) == "b30" && name(29) == "b20" && name(10) == "b10")
        #expect(throws: BackupError.self) { try name(9) }
        #expect(throws: BackupError.self) { try folder.backup(named: "b40", endedBy: nil) }
        #expect(try folder.backup(named: "b10", endedBy: nil).name == "b10")
    }

    @Test func `Backups of one second have names of their own, in their order`() throws {
        let temporary = try TemporaryFolder()
        let folder = try folder(temporary.path + "/b", [("19700101T000000Z", segment(1))])
        let now = Date(timeIntervalSince1970: 0)
        #expect(try folder.begin(at: now).name == "19700101T000001Z")
        #expect(try folder.begin(at: now).name == "19700101T000002Z")
        #expect(try folder.begin(at: now + 3600).name == "19700101T010000Z")
    }

    @Test func `With the backups in excess go their keys, the log that only they need, and chains that have ended`()
        throws
    {
        let temporary = try TemporaryFolder()
        let folder = try folder(temporary.path + "/b", [("b10", segment(1)), ("b20", segment(3)), ("b30", segment(5))])
        try add([segment(1), segment(2) + ".partial", "00000002.history", "chain.json"], to: folder.chain("b10"))
        try add([segment(2), segment(3), segment(4) + ".partial", "chain.json"], to: folder.chain("b15"))
        try add(["chain.json"], to: folder.chain("b31"))
        try add(["b10.tar.cms", "b20.tar.cms", "b30.tar.cms"], to: folder.secrets)
        #expect(try folder.prune(keeping: 2) == ["b10"])
        #expect(try folder.backups().map(\.name) == ["b20", "b30"])
        #expect(try folder.chainNames() == ["b15", "b31"])
        #expect(
            try FileBytes.names(inFolder: folder.chain("b15")) == [segment(3), segment(4) + ".partial", "chain.json"]
        )
        #expect(try FileBytes.names(inFolder: folder.secrets) == ["b20.tar.cms", "b30.tar.cms"])
        #expect(try folder.prune(keeping: 2).isEmpty)
    }

    @Test func `A line of the log of deletions that was cut is ended and ignored, and none is added twice`() throws {
        let temporary = try TemporaryFolder()
        let path = temporary.path + "/log"
        func account(_ id: String, _ seconds: Double) -> DeletedAccount {
            DeletedAccount(id: id, reason: "deleted", deletedAt: Date(timeIntervalSince1970: seconds))
        }
        var log = try DeletedAccountsLog(path: path)
        #expect(log.newest == nil)
        #expect(try log.add([account("a", 1), account("b", 3), account("c", 2)]) == 3)
        #expect(log.newest == Date(timeIntervalSince1970: 3))
        var text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.hasPrefix("a 1970-01-01T00:00:01.000Z deleted\n"))
        text += "d 1970-01-"
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        log = try DeletedAccountsLog(path: path)
        #expect(log.newest == Date(timeIntervalSince1970: 3))
        #expect(try log.add([account("c", 2), account("d", 4)]) == 1)
        text += "\nd 1970-01-01T00:00:04.000Z deleted\n"
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }
}
