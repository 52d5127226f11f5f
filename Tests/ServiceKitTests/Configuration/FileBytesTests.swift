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

    @Test func `A pipe is read to its end, and one that nothing is written to is given up`() throws {
        try withFolder { folder throws in
            let path = folder + "/pipe"
            let isMade = mkfifo(path, 0o600) == 0
            #expect(isMade)
            let error = #expect(throws: FileError.self) { _ = try FileBytes.read(path, bytesMax: 10) }
            #expect(error?.description == "is a pipe that nothing is written to")
            Thread.detachNewThread {
                let writer = open(path, O_WRONLY)
                for byte: UInt8 in [1, 2, 3] {
                    _ = withUnsafeBytes(of: byte) { write(writer, $0.baseAddress, 1) }
                    usleep(20_000)
                }
                close(writer)
            }
            let bytes = try FileBytes.read(path, bytesMax: 10)
            #expect(bytes == [1, 2, 3])
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

    @Test func `Replaces a file with its permissions, and leaves nothing beside it`() throws {
        try withFolder { folder in
            let path = folder + "/file"
            try FileBytes.replace(path, newMode: 0o640, with: [1])
            #expect(chmod(path, 0o604) == 0)
            try Data([9]).write(to: URL(filePath: path + ".new"))
            try FileBytes.replace(path, newMode: 0o640, with: [2])
            #expect(try FileBytes.read(path, bytesMax: 10) == [2])
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o604)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
        }
    }

    @Test func `What can't be replaced stays`() throws {
        try withFolder { folder in
            try FileManager.default.createDirectory(atPath: folder + "/a", withIntermediateDirectories: false)
            let fault = #expect(throws: FileError.self) { try FileBytes.replace(folder + "/a", with: [1]) }
            #expect(fault?.description.contains("cannot be replaced: Is a directory") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a"])
            #expect(throws: FileError.self) { try FileBytes.replace(folder + "/none/b", with: [1]) }
        }
    }

    @Test func `A lock keeps others out, of a file and of a folder, and ends with its body`() throws {
        try withFolder { folder in
            let file = folder + "/.lock"
            let descriptor = open(folder, O_RDONLY | O_DIRECTORY)
            defer { close(descriptor) }
            let isTaken = try FileLock.locked(folder: folder, of: "x") { flock(descriptor, LOCK_EX | LOCK_NB) != 0 }
            #expect(isTaken && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            // It waits for five seconds, and then gives up.
            let fault = #expect(throws: FileError.self) { try FileLock.locked(folder: folder, of: "keys") {} }
            #expect(fault?.description == "keys is being changed by another run; try again")
            #expect(try FileLock.locked(file: file, of: "x") { 1 } == 1)
            #expect(throws: FileError.self) { try FileLock.locked(folder: file, of: "x") {} }
        }
    }
}
