import InvitesDomain
import Logging
import Models
import RPC
import ServiceKit

/// Deletes the data of closed accounts: at once if it is quickly done, and the rest in the background.
///
/// Closings wait in a queue, `closed_accounts`. One that fails or isn't done yet goes to its end, so that none blocks the others. Each
/// replica runs one of these; only one works on a closing at a time, and what a crash leaves is resumed when its lease ends.
struct ClosingRunner: Sendable {
    /// The pause between two checks for closings that are due.
    static let interval: Duration = .seconds(5)
    /// How long a call deletes data of the account that it closed, at most: with ``putBackLimit`` much shorter than identity waits for it.
    static let callLimit: Duration = .seconds(2)
    /// How long it may take to put a closing back into the queue.
    static let putBackLimit: Duration = .seconds(1)
    /// How long one closing is worked on before the others have their turn: shorter than the lease, including running statements.
    static let turnLimit: Duration = .seconds(20)
    /// How many turns there are between two readings of the backlog.
    static let turnsMax = 64

    let store: AccountStore
    /// ``callLimit``, or what a test chose.
    let callLimit: Duration
    let metrics = ClosingMetrics()
    let clock: WallClock
    let logger: Logger

    /// Closes an account. When it returns the account is closed for good, and the data of a user in few groups is deleted.
    ///
    /// - Parameter successor: the account that takes the user's place in groups; nil for none.
    func close(_ userID: UserID, successor: UserID? = nil, deadline: Deadline?) async throws {
        try await store.close(userID, successor: successor, clock: clock, deadline: deadline)
        await forget(userID, within: callLimit, deadline: .after(callLimit))
    }

    /// Works on what is due, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await round()
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Works on everything that is due.
    func round() async {
        do {
            var turnsLeft = Self.turnsMax
            while turnsLeft > 0, let userID = try await store.takeClosing(nowMilliseconds: clock.nowMilliseconds) {
                turnsLeft -= 1
                await forget(userID, within: Self.turnLimit)
                guard !Task.isCancelled else { return }
            }
            metrics.set(try await store.backlog(), nowMilliseconds: clock.nowMilliseconds)
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning("closed accounts are not forgotten, will try again", metadata: ["cause": "\(error)"])
        }
    }

    /// Deletes a user's data as far as the time allows, and puts the closing back into the queue.
    ///
    /// - Parameter deadline: when running work is left for the next turn, which is no failure; nil in a turn.
    private func forget(_ userID: UserID, within limit: Duration, deadline: Deadline? = nil) async {
        let began = clock.nowMilliseconds
        do {
            let outcome: ClosingOutcome
            do {
                let isAll = try await store.forget(userID, until: .now.advanced(by: limit), deadline: deadline)
                outcome = isAll ? .forgotten : .unfinished
            } catch {
                guard !Task.isCancelled else { return }
                if let deadline, deadline.hasPassed {
                    outcome = .unfinished
                } else {
                    metrics.countFailure()
                    logger.warning(
                        "a closed account is not forgotten, will try again",
                        metadata: ["cause": "\(error)"]
                    )
                    outcome = .failed
                }
            }
            try await store.putBack(
                userID,
                outcome,
                beganAtMilliseconds: began,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: .after(Self.putBackLimit)
            )
        } catch {
            // It is resumed when its lease ends.
            guard !Task.isCancelled else { return }
            logger.warning("a closed account is looked at again later", metadata: ["cause": "\(error)"])
        }
    }
}
