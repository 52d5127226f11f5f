import Logging
import Postgres
import ServiceKit

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
    ///
    /// - Throws: `DatabaseFault.clock` and `MigrationError`, with which the program must not start.
    func run() async throws {
        var wasReady: Bool?
        var told: Logger.Message?
        while !Task.isCancelled {
            var problem: (any Error)?
            do { try await check() } catch { problem = error }
            if Task.isCancelled { return }
            if let problem {
                if case .clock? = problem as? DatabaseFault { throw problem }
                if problem is MigrationError { throw problem }
            }
            let isReady = problem == nil
            health.setReady(isReady)
            if let problem {
                // Once for each kind of problem, since the words of one may change each second.
                let message = Self.message(problem)
                if wasReady != false || told != message {
                    logger.warning(message, metadata: ["error": "\(problem)"])
                }
                told = message
            } else if isReady, wasReady != true {
                logger.notice("ready")
            }
            wasReady = isReady
            try? await Task.sleep(for: interval)
        }
    }

    private static func message(_ problem: any Error) -> Logger.Message {
        switch problem {
        case is DatabaseFault: "not ready: the database takes no writes"
        default: "not ready: the database does not answer"
        }
    }
}
