import Models
import ServiceKit

// The background tasks. Each runs until it is cancelled.

extension IdentityParts {
    /// Fetches provider keys when sign-ins need them, until the task is cancelled. Without it no sign-in succeeds.
    func fetchProviderKeys() async {
        await keys.run()
    }

    /// Exchanges the codes of sign-ins, until the task is cancelled. Without it no sign-in with a code succeeds.
    func exchangeCodes() async {
        await questions.run()
    }

    /// Keeps, checks and revokes the tokens that providers granted, until the task is cancelled.
    func mindGrants() async {
        await grants.run()
    }

    /// Stores which tokens were received, until the task is cancelled. Without it only a refresh shows that.
    func acknowledge() async {
        await methods.acknowledgements.run()
    }

    /// Looks for ended sessions for the watchers, until the task is cancelled. Without it they receive nothing.
    func tellRevocations() async {
        await methods.revocations.run()
    }

    /// Continues absorptions of accounts that other processes left unfinished, until the task is cancelled.
    func absorb() async {
        await methods.absorber.run()
    }

    /// Deletes the accounts whose scheduled deletion is due, until the task is cancelled.
    func deleteScheduled() async {
        await deletions.run()
    }

    /// Deletes guest accounts that go unused, until the task is cancelled.
    func deleteUnusedGuests() async {
        await guests.run()
    }

    /// Applies provider notices about users, until the task is cancelled. Without it they are only stored.
    func applyNotices() async {
        await notices.run()
    }

    /// Notices when the process did not run for a while, until the task is cancelled. Without it all the time since the start
    /// counts as a pause, up to the maximum.
    func watchForPauses() async {
        while !Task.isCancelled {
            methods.pauses.tick(nowMilliseconds: clock.nowMilliseconds)
            try? await Task.sleep(for: PauseWatch.tickInterval)
        }
    }
}
