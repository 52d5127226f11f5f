import Foundation

/// A folder for one test, removed with the object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/vestibule-stack-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Tries until it succeeds, for five seconds at most. A process that another test starts at this moment holds copies of
/// our descriptors until its program is loaded; a lock or port is free only then.
func retrying(_ body: () throws -> Void) throws {
    let end = Date().addingTimeInterval(5)
    while true {
        do { return try body() } catch { if Date() > end { throw error } }
        usleep(10_000)
    }
}
