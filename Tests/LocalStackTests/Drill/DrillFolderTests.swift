import Foundation
import ServiceKit
import Testing

@testable import LocalStack

struct DrillFolderTests {
    @Test func `A folder is made, made anew, and removed with all that is in it`() throws {
        let parent = try TemporaryFolder()
        let folder = DrillFolder(stack: StackFolder(path: parent.path + "/drill"))
        try folder.make()
        try Data("old".utf8).write(to: URL(fileURLWithPath: folder.work + "/old"))
        try FileManager.default.createDirectory(atPath: folder.stack.backups, withIntermediateDirectories: false)
        try folder.make()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.work).isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder.stack.backups))
        try folder.remove()
        #expect(!FileManager.default.fileExists(atPath: folder.stack.path))
    }

    @Test func `A folder with files that no drill made is refused and left alone`() throws {
        let parent = try TemporaryFolder()
        try Data("dear".utf8).write(to: URL(fileURLWithPath: parent.path + "/letter"))
        let folder = DrillFolder(stack: StackFolder(path: parent.path))
        #expect(throws: StackError.self) { try folder.make() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path) == ["letter"])
    }

    @Test func `A folder that another drill uses is not removed`() throws {
        let parent = try TemporaryFolder()
        let folder = DrillFolder(stack: StackFolder(path: parent.path + "/drill"))
        try folder.make()
        let lock = try folder.stack.lock()
        #expect(throws: StackError.self) { try folder.make() }
        #expect(FileManager.default.fileExists(atPath: folder.work))
        close(lock)
        try folder.remove()
    }

    @Test func `More accounts than the disk has room for are refused`() throws {
        let parent = try TemporaryFolder()
        let folder = DrillFolder(stack: StackFolder(path: parent.path))
        #expect(throws: StackError.self) { try folder.requireSpace(accounts: 1 << 45) }
    }

    @Test func `Ports are free and different`() throws {
        let ports = try LoopbackPorts.free(count: 5)
        #expect(Set(ports.map(\.port)).count == 5)
        for port in ports { try PortCheck.requireFree(port, for: "gateway", key: "KEY") }
    }

    @Test func `Each made-up account has a number of its own, of eleven digits and a plus`() throws {
        let lines = [0, 7, 9_999_999].map(DrillAccounts.line)
        #expect(lines[1].contains("\"phoneNumber\":\"+639180000007\""))
        #expect(lines[2].contains("\"phoneNumber\":\"+639189999999\""))
        for line in lines {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(object["localId"] is String && line.hasSuffix("}\n"))
        }
    }
}
