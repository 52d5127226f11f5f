import Logging

/// Deletes what is over, now and then: nothing is kept of anybody for longer than it is needed, and tables stay small.
public struct Cleanup: Sendable {
    /// The most rows that one statement deletes, which keeps its transaction short.
    public static let rowsMax = 1_000
    /// How long it waits after a statement that had more to delete than it may.
    static let pause = Duration.milliseconds(100)

    /// One kind of things to delete.
    public struct Step: Sendable {
        let what: String
        let delete: @Sendable (_ limit: Int) async throws -> Int

        /// A step.
        ///
        /// - Parameters:
        ///   - what: the things, as the log calls them.
        ///   - delete: deletes at most so many that are over, and tells how many it deleted.
        public init(_ what: String, delete: @escaping @Sendable (_ limit: Int) async throws -> Int) {
            self.what = what
            self.delete = delete
        }
    }

    private let interval: Duration
    private let steps: [Step]
    private let logger: Logger

    /// Steps that are done one after the other, each `interval`.
    public init(every interval: Duration, _ steps: [Step], logger: Logger) {
        self.interval = interval
        self.steps = steps
        self.logger = logger
    }

    /// Cleans now and then, until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            await clean()
            try? await Task.sleep(for: interval)
        }
    }

    /// Deletes all that is over. A database that is down isn't this task's to mend: the next round comes.
    public func clean() async {
        for step in steps {
            do {
                while try await step.delete(Self.rowsMax) >= Self.rowsMax { try await Task.sleep(for: Self.pause) }
            } catch {
                guard !Task.isCancelled else { return }
                logger.warning(
                    "not cleaned up, will try again",
                    metadata: ["what": .string(step.what), "cause": .string("\(error)")]
                )
            }
        }
    }
}
