import Logging

/// Asks each second whether what a service depends on answers, and tells its health.
///
/// The asking is apart from the health calls, so that these answer at once and can't be used to load the database.
struct ReadinessProbe: Sendable {
    /// The time from one answer to the next question.
    var interval: Duration = .seconds(1)
    let health: HealthService
    let logger: Logger
    /// Throws if the dependency doesn't answer. Must bound its own time.
    let check: @Sendable () async throws -> Void

    /// Probes until the task is cancelled.
    func run() async {
        var wasReady: Bool?
        while !Task.isCancelled {
            var problem: (any Error)?
            do { try await check() } catch { problem = error }
            if Task.isCancelled { return }
            let isReady = problem == nil
            health.setReady(isReady)
            if let problem, wasReady != false {
                logger.warning("not ready: the database does not answer", metadata: ["error": "\(problem)"])
            } else if isReady, wasReady != true {
                logger.notice("ready")
            }
            wasReady = isReady
            try? await Task.sleep(for: interval)
        }
    }
}
