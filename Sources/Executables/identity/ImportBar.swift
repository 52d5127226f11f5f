import Glibc
import IdentityService
import Synchronization

/// Prints the progress of an import on standard error: a bar on a terminal, otherwise a line now and then. Any thread.
final class ImportBar: Sendable {
    /// The width of the bar in characters.
    private static let width = 30

    private struct State {
        var toldAt = ContinuousClock.now
        /// Whether the bar is on the terminal's current line.
        var isOpen = false
    }

    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let begun = ContinuousClock.now
    private let state = Mutex(State())

    /// Prints the progress.
    func tell(_ progress: ImportProgress) {
        let isDue = state.withLock { state in
            let now = ContinuousClock.now
            let interval = isTerminal ? .milliseconds(200) : ProgressBar.interval
            guard now - state.toldAt >= interval || (isTerminal && !state.isOpen) else { return false }
            state.toldAt = now
            state.isOpen = isTerminal
            return true
        }
        guard isDue else { return }
        let share = progress.byteCount > 0 ? min(1, Double(progress.bytes) / Double(progress.byteCount)) : 1
        let seconds = max(0.001, Double((ContinuousClock.now - begun).components.seconds))
        var counts = "\(Int(share * 100)) %, \(progress.rows) rows, \(Int(Double(progress.rows) / seconds)) a second"
        if progress.rejections > 0 { counts += ", \(progress.rejections) rejections" }
        guard isTerminal else { return write(counts + "\n") }
        let filled = Int(share * Double(Self.width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        write("\r[\(bar)] \(counts)\u{1B}[K")
    }

    /// Keeps the bar's last state, and prints the result.
    func end(_ line: String?) {
        let wasOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        if wasOpen { write("\n") }
        if let line { write(line + "\n") }
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
