import Glibc
import Synchronization

/// Prints the progress of a run on standard error: a line that is overwritten on a terminal, plain lines elsewhere. Any
/// thread.
public final class LoadConsole: Sendable {
    /// Progress lines of a preparation outside a terminal: one for each tenth.
    private static let plainSteps = 10

    private struct State {
        var isLineOpen = false
        var lastStep: [String: Int] = [:]
    }
    private let isTerminal: Bool
    private let descriptor: Int32
    private let state = Mutex(State())

    /// A console on a file descriptor.
    public init(descriptor: Int32 = STDERR_FILENO) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
    }

    /// Prints the progress of a preparation.
    func progress(_ title: String, done: Int, of total: Int) {
        state.withLock { state in
            let steps = isTerminal ? 100 : Self.plainSteps
            let step = total == 0 ? steps : done * steps / total
            guard state.lastStep[title] != step else { return }
            state.lastStep[title] = step
            show(LiveLine.progress(title, done: done, of: total), &state)
            if done == total { finishLine(&state) }
        }
    }

    /// Prints a line that the next one replaces.
    func live(_ line: String) { state.withLock { show(line, &$0) } }

    /// Prints a line that stays.
    public func say(_ line: String) {
        state.withLock { state in
            finishLine(&state)
            put(line + "\n")
        }
    }

    /// Ends a line that could be replaced, so that other code may print.
    public func finish() { state.withLock { finishLine(&$0) } }

    private func show(_ line: String, _ state: inout State) {
        guard isTerminal else { return put(line + "\n") }
        put("\r\u{1b}[K" + line)
        state.isLineOpen = true
    }

    private func finishLine(_ state: inout State) {
        if state.isLineOpen { put("\n") }
        state.isLineOpen = false
    }

    private func put(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }
}
