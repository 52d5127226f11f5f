import Glibc
import IdentityService
import Synchronization

/// Prints the progress of a transfer on standard error: a bar on a terminal, otherwise a line now and then. Any thread.
final class ProgressBar: Sendable {
    /// The time between two lines outside a terminal.
    static let interval: Duration = .seconds(10)
    private static let width = 30

    private struct State {
        var toldAt: ContinuousClock.Instant?
        var isOpen = false
    }

    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let state = Mutex(State())

    /// Prints an event; rejections are printed on standard output.
    func tell(_ news: AppleTransferEvent) {
        switch news {
        case .progress(let progress): show(progress)
        case .rejected(let userID, let reason):
            clear()
            print("rejected \(userID) \(reason)")
            fflush(nil)
        case .waiting(let seconds):
            clear()
            write("Apple doesn't respond; retrying in \(seconds) s\n")
        }
    }

    /// Keeps the bar's last state.
    func end() {
        let wasOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        if wasOpen { write("\n") }
    }

    private func show(_ progress: AppleTransferProgress) {
        let isDue = state.withLock { state in
            if isTerminal {
                state.isOpen = true
                return true
            }
            let now = ContinuousClock.now
            if let toldAt = state.toldAt, now - toldAt < Self.interval, progress.seen < progress.total { return false }
            state.toldAt = now
            return true
        }
        guard isDue else { return }
        let counts =
            "\(progress.seen) of \(progress.total)" + (progress.rejected > 0 ? ", \(progress.rejected) rejected" : "")
        guard isTerminal else { return write(counts + "\n") }
        let share = progress.total > 0 ? min(1, Double(progress.seen) / Double(progress.total)) : 1
        let filled = Int(share * Double(Self.width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        write("\r[\(bar)] \(counts)\u{1B}[K")
    }

    /// Makes room for a line.
    private func clear() {
        if state.withLock({ $0.isOpen }) { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
