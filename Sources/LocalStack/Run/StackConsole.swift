import Glibc
import Synchronization

/// Prints whole lines on standard output, one at a time. Any thread.
final class StackConsole: Sendable {
    private let start = ContinuousClock.now
    private let lock = Mutex(())

    /// Prints a line.
    func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        lock.withLock { _ in _ = write(1, bytes, bytes.count) }
    }

    /// A duration for people, in tenths of a second.
    static func seconds(_ duration: Duration) -> String {
        let tenths = Int(duration / .milliseconds(100))
        return "\(tenths / 10).\(tenths % 10) s"
    }

    /// Prints the progress of a program, with the time since the start.
    func progress(_ part: String, _ state: String, _ detail: String) {
        let columns = [(part, 11), (state, 8), (Self.seconds(ContinuousClock.now - start), 7)].map { text, width in
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        say("  " + columns.joined(separator: " ") + " " + detail)
    }
}
