import Glibc
import Synchronization

/// What the stack tells on the terminal: whole lines on standard output, one at a time, from any thread.
final class StackConsole: Sendable {
    private let start = ContinuousClock.now
    private let lock = Mutex(())

    /// Prints a line.
    func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        lock.withLock { _ in _ = write(1, bytes, bytes.count) }
    }

    /// Prints that a part has come so far, with the time since the start.
    func progress(_ part: String, _ state: String, _ detail: String) {
        let tenths = (ContinuousClock.now - start) / .milliseconds(100)
        let seconds = "\(Int(tenths) / 10).\(Int(tenths) % 10) s"
        let columns = [(part, 11), (state, 8), (seconds, 7)].map { text, width in
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        say("  " + columns.joined(separator: " ") + " " + detail)
    }
}
