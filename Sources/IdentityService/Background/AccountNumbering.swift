import Logging

/// Gives accounts of the version before their numbers, a few at a time. Once none is left it is done: new ones get theirs when
/// they are made, by whichever version.
struct AccountNumbering: Sendable {
    /// Between two statements, so that it is nobody's load.
    static let pause: Duration = .milliseconds(50)
    /// After a failure: a database that is down isn't this task's to mend.
    static let pauseAfterFailure: Duration = .seconds(30)

    let store: IdentityStore
    let logger: Logger

    /// Numbers all that have none, and returns; or when the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do {
                let count = try await store.numberAccounts(limit: IdentityStore.numberedMax)
                // Those that somebody holds just now get theirs by that, or at their next sign-in.
                if count == 0 { return }
                try await Task.sleep(for: Self.pause)
            } catch {
                guard !Task.isCancelled else { return }
                logger.warning("accounts are not numbered yet, will try again", metadata: ["cause": "\(error)"])
                try? await Task.sleep(for: Self.pauseAfterFailure)
            }
        }
    }
}
