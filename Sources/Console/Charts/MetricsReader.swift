import Glibc
import ServiceKit

/// Reads the metrics of all programs every few seconds.
struct MetricsReader: Sendable {
    /// Time for each step of a request to a program, in milliseconds.
    private static let timeoutMilliseconds = 2000

    let targets: [MetricsTarget]
    let history: MetricsHistory

    /// Reads until the task is cancelled.
    func run() async {
        guard !targets.isEmpty else { return }
        while !Task.isCancelled {
            // On threads of its own: a program that doesn't answer holds up no page.
            let programs = await MetricsTarget.readAll(targets, timeoutMilliseconds: Self.timeoutMilliseconds)
            var now = timespec()
            clock_gettime(CLOCK_REALTIME, &now)
            history.add(programs, atSeconds: Double(now.tv_sec) + Double(now.tv_nsec) / 1e9)
            try? await Task.sleep(for: MetricsHistory.interval)
        }
    }
}
