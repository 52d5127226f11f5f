import Foundation

/// The contents of `postmaster.pid`, which a running server writes into its data folder.
///
/// Line 1 is its process, line 8 its state (PostgreSQL source, `miscadmin.h`, `LOCK_FILE_LINE_…`).
struct PostmasterFile: Equatable {
    let processID: pid_t
    let isReady: Bool

    init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // A negative number would be a stand-alone backend, which isn't used here.
        guard let first = lines.first, let processID = pid_t(first), processID > 1 else { return nil }
        self.processID = processID
        isReady = lines.count >= 8 && lines[7].hasPrefix("ready")
    }

    init?(dataFolder: String) {
        guard let text = try? String(contentsOfFile: dataFolder + "/postmaster.pid", encoding: .utf8) else {
            return nil
        }
        self.init(text: text)
    }

    /// Whether the process in the file is a running PostgreSQL of this folder. After a crash another process may have the
    /// number.
    func isServer(of dataFolder: String) -> Bool {
        guard kill(processID, 0) == 0 || errno == EPERM else { return false }
        let folder = "/proc/\(processID)/cwd"
        guard let place = try? FileManager.default.destinationOfSymbolicLink(atPath: folder) else { return false }
        return place == dataFolder
    }
}
