import Foundation
import Testing

@testable import ServiceKit

struct FileBytesTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vestibule-files-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    @Test func `Makes a file with its mode, and never a second time`() throws {
        try withFolder { folder in
            let path = folder + "/secret"
            #expect(try FileBytes.create(path, mode: 0o444) { [1, 2, 3] })
            #expect(try FileBytes.read(path, bytesMax: 10) == [1, 2, 3])
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o444)
            // Its content isn't even asked for.
            let isMade = try FileBytes.create(path, mode: 0o600) { throw FileError("asked") }
            #expect(!isMade)
            #expect(try FileBytes.read(path, bytesMax: 10) == [1, 2, 3])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["secret"])
        }
    }

    @Test func `A file that another makes meanwhile is left alone`() throws {
        try withFolder { folder in
            let path = folder + "/secret"
            let isMade = try FileBytes.create(path, mode: 0o600) {
                try Data([9]).write(to: URL(filePath: path))
                return [1]
            }
            #expect(!isMade)
            #expect(try FileBytes.read(path, bytesMax: 10) == [9])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["secret"])
        }
    }

    @Test func `Takes away what an attempt that was cut left, and says where it cannot write`() throws {
        try withFolder { folder in
            try Data([7]).write(to: URL(filePath: folder + "/a.new"))
            #expect(try FileBytes.create(folder + "/a", mode: 0o600) { [1] })
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a"])
            let missing = folder + "/none/a"
            let fault = #expect(throws: FileError.self) { _ = try FileBytes.create(missing, mode: 0o600) { [1] } }
            #expect(fault?.description.contains(missing) == true)
        }
    }
}
