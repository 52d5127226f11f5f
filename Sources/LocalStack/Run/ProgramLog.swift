import Foundation
import Synchronization

/// Writes the output of one program to a file, keeps its last lines, and decides which lines to show on the terminal.
final class ProgramLog: Sendable {
    /// The file.
    let path: String
    private let state: Mutex<(descriptor: Int32, last: [String])>

    private static let lastLinesMax = 12

    /// Begins a new file; the file of the last run stays as `NAME.1`.
    init(path: String) throws(StackError) {
        self.path = path
        rename(path, path + ".1")
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StackError("open \(path): \(String(cString: strerror(errno)))") }
        state = Mutex((descriptor, []))
    }

    deinit { close(state.withLock { $0.descriptor }) }

    /// Adds a line.
    func append(_ line: String) {
        state.withLock { state in
            let bytes = Array((line + "\n").utf8)
            _ = write(state.descriptor, bytes, bytes.count)
            state.last.append(line)
            if state.last.count > Self.lastLinesMax { state.last.removeFirst() }
        }
    }

    /// The last lines.
    var lastLines: [String] { state.withLock { $0.last } }

    /// Whether to show a line on the terminal: warnings and errors, and lines that aren't log lines, such as a crash report.
    static func isImportant(_ line: String) -> Bool {
        if line.hasPrefix("{") {
            return ["warning", "error", "critical"].contains { line.contains("\"level\":\"\($0)\"") }
        }
        let fields = line.split(separator: " ", maxSplits: 2)
        guard fields.count == 3, fields[0].count == 24, fields[0].hasSuffix("Z") else { return !line.isEmpty }
        return ["warning", "error", "critical"].contains(fields[1])
    }
}
