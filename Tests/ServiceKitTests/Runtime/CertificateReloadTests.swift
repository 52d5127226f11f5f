import Glibc
import Logging
import Synchronization
import Testing

@testable import ServiceKit

/// Certificates that are read again on SIGHUP.
struct CertificateReloadTests {
    /// Keeps what is logged.
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }

        func append(_ line: String) { lines.withLock { $0.append(line) } }
        func logger() -> Logger { Logger(label: "test") { _ in Handler(lines: self) } }

        struct Handler: LogHandler {
            let lines: Lines
            var logLevel = Logger.Level.trace
            var metadata = Logger.Metadata()
            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }
            func log(event: LogEvent) {
                lines.append("\(event.level) \(event.message) \(event.metadata?["error"].map { "\($0)" } ?? "")")
            }
        }
    }

    private struct Broken: Error {}

    /// The lines logged, and how often there was a reload, after one signal.
    private func outcome(
        _ faults: [ConfigurationError],
        _ work: @escaping @Sendable () throws -> Void = {}
    ) async -> (lines: [String], count: Int) {
        let lines = Lines()
        let count = Mutex(0)
        let (signals, signal) = AsyncStream.makeStream(of: Void.self)
        let reload = CertificateReload(logger: lines.logger(), faults: { faults }) {
            count.withLock { $0 += 1 }
            try work()
        }
        signal.yield()
        signal.finish()
        await reload.run(at: signals)
        return (lines.all, count.withLock { $0 })
    }

    @Test func `Reloads and says so`() async {
        let outcome = await outcome([])
        #expect(outcome.count == 1)
        #expect(outcome.lines.count == 1 && outcome.lines[0].hasPrefix("notice"))
    }

    @Test func `Files that cannot be used change nothing, and the log says which and why`() async {
        let outcome = await outcome([ConfigurationError(key: "VESTIBULE_X_TLS_KEY_FILE", problem: "cannot be used")])
        #expect(outcome.count == 0)
        #expect(outcome.lines.count == 1 && outcome.lines[0].hasPrefix("error"))
        #expect(outcome.lines[0].contains("VESTIBULE_X_TLS_KEY_FILE cannot be used"))
    }

    @Test func `A failure is logged too, and the next signal is answered`() async {
        let outcome = await outcome([]) { throw Broken() }
        #expect(outcome.lines.count == 1 && outcome.lines[0].contains("Broken"))
    }

    @Test(.timeLimit(.minutes(5)))
    func `A signal to the process arrives`() async {
        // Not SIGHUP, which a terminal that is closed sends to the tests.
        let signal = ReloadSignal(number: SIGWINCH)
        kill(getpid(), SIGWINCH)
        var arrived = signal.signals.makeAsyncIterator()
        #expect(await arrived.next() != nil)
    }
}
