import Logging
import Postgres

/// Forgets counts whose window is over, so that nothing is kept of anybody for longer than it is needed.
public struct QuotaCleanup: Sendable {
    /// The most counts forgotten with one statement, which keeps its transaction short.
    static let countMax = 1_000
    /// How often it looks.
    static let interval = Duration.seconds(600)

    private let database: PostgresClient
    private let nowMilliseconds: @Sendable () -> Int64
    private let logger: Logger

    /// - Parameter nowMilliseconds: the time in Unix milliseconds, as quotas are spent by.
    public init(database: PostgresClient, logger: Logger, nowMilliseconds: @escaping @Sendable () -> Int64) {
        self.database = database
        self.nowMilliseconds = nowMilliseconds
        self.logger = logger
    }

    /// Looks now and then, until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            await clean()
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Forgets what is over. A database that is down isn't this task's to mend: the next look comes.
    public func clean() async {
        do {
            while try await QuotaStore.forget(
                endedBy: nowMilliseconds(),
                limit: Self.countMax,
                in: database
            ) == Self.countMax { try Task.checkCancellation() }
        } catch {
            if !Task.isCancelled { logger.warning("quotas not cleaned, will retry", metadata: ["error": "\(error)"]) }
        }
    }
}
