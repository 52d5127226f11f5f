import Glibc
import Synchronization

/// What is told while a run goes on, on standard error: one line that is written over on a terminal, plain lines
/// elsewhere. Any thread.
public final class LoadConsole: Sendable {
    /// Lines of a preparation where they cannot be written over: one each time that a tenth is done.
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

    /// Tells how far a preparation is.
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

    /// Tells a line about now, which the next one replaces.
    func live(_ line: String) { state.withLock { show(line, &$0) } }

    /// Tells a line that stays.
    public func say(_ line: String) {
        state.withLock { state in
            finishLine(&state)
            put(line + "\n")
        }
    }

    /// Ends a line that could be replaced, so that others may write.
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
