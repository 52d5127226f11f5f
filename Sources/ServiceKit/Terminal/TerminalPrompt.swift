import Glibc

/// Asks the person at the terminal: questions on standard error, answers from standard input, so that standard output has the
/// result of a command alone. One thread.
public struct TerminalPrompt: Sendable {
    /// The person ended the input (Ctrl-D) in the place of an answer.
    public struct Ended: Error {
        /// An end of the input.
        public init() {}
    }

    /// A prompt; nil if standard input or standard error is no terminal.
    public init?() {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return nil }
    }

    /// Shows a line.
    public func show(_ line: String) { write(line.printable + "\n") }

    /// Asks, and returns the answer without spaces at its ends; empty for none.
    public func ask(_ question: String) throws(Ended) -> String {
        write(question.printable + ": ")
        return try read()
    }

    /// Asks for a secret, which the terminal doesn't show. A signal that ends the process gives the terminal its echo back.
    public func askSecret(_ question: String) throws(Ended) -> String {
        // Before the question is there, so that nothing of the answer is shown.
        let isHidden = EchoSwitch.turnOff()
        defer {
            if isHidden {
                EchoSwitch.turnOn()
                write("\n")
            }
        }
        write(question.printable + (isHidden ? " (not shown): " : " (SHOWN): "))
        return try read()
    }

    private func read() throws(Ended) -> String {
        guard let line = readLine() else {
            write("\n")
            throw Ended()
        }
        let spaces: Set<Character> = [" ", "\t"]
        return String(String(line.drop { spaces.contains($0) }).reversed().drop { spaces.contains($0) }.reversed())
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}

/// The echo of the terminal. One thread uses it, and its signal handler, which reads what was there before.
private enum EchoSwitch {
    // Written before the handlers are there, by the one thread that asks.
    nonisolated(unsafe) private static var before = termios()
    // Only the thread that asks reads and writes them.
    nonisolated(unsafe) private static var actionsBefore: [(signal: Int32, action: sigaction)] = []

    /// Turns the echo off; false if the terminal doesn't let it.
    static func turnOff() -> Bool {
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return false }
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            replace(number) { number in
                EchoSwitch.restore()
                // As if there had been no handler: it is delivered when this one ends.
                Glibc.signal(number, SIG_DFL)
                raise(number)
            }
        }
        // After a stop the shell turns the echo on, and the rest of the secret would be shown.
        replace(SIGTSTP, SIG_IGN)
        var hidden = before
        hidden.c_lflag &= ~tcflag_t(ECHO)
        // What was typed already stays.
        guard tcsetattr(STDIN_FILENO, TCSANOW, &hidden) == 0 else {
            turnOn()
            return false
        }
        return true
    }

    static func turnOn() {
        restore()
        for (number, action) in actionsBefore {
            var action = action
            sigaction(number, &action, nil)
        }
        actionsBefore = []
    }

    private static func replace(_ number: Int32, _ handler: @escaping __sighandler_t) {
        var action = sigaction()
        sigaction(number, nil, &action)
        actionsBefore.append((number, action))
        Glibc.signal(number, handler)
    }

    private static func restore() { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
}
