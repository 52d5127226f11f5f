import Observation
import VestibuleClient

/// What the app shows: who is signed in, their profile, and their groups as they change.
@MainActor
@Observable
final class AppModel {
    private(set) var userID: String?
    private(set) var profile: Vestibule.Profile?
    private(set) var groups: [Vestibule.Group] = []
    /// What went wrong last, for the user.
    var message: String?

    @ObservationIgnored let vestibule: Vestibule

    init(_ vestibule: Vestibule) { self.vestibule = vestibule }

    // cut: session
    /// Follows the session for as long as the app runs.
    func followSession() async {
        for await state in vestibule.states {
            switch state {
            case .signedIn(let userID, _): self.userID = userID
            case .signedOut(let reason):
                userID = nil
                // The server ended the session: the app gets the reason once, even if it was not running.
                message = reason?.text()
            }
        }
    }
    // cut end

    // cut: groups
    /// Shows the user's groups, and shows them again whenever they change.
    func followGroups() async {
        do {
            // The first message comes at once. The kit reconnects by itself.
            for try await _ in vestibule.events() { await showGroups() }
        } catch {
            show(error)
        }
    }

    /// A list that can't be had now comes with the next change.
    private func showGroups() async {
        do {
            profile = try await vestibule.account.getMe()
            groups = try await vestibule.groups.listGroups().groups
        } catch {
            show(error)
        }
    }

    func createGroup(_ name: String) async {
        do {
            _ = try await vestibule.groups.createGroup(name: name)
        } catch {
            show(error)
        }
    }
    // cut end

    // cut: guest
    /// The user begins without a provider. `linkProvider` makes the account a full one later.
    func continueAsGuest() async {
        do {
            try await vestibule.signInAsGuest()
        } catch {
            show(error)
        }
    }
    // cut end

    // cut: kept-guest
    /// After each sign-in: whether to ask the user what becomes of the guest.
    func hasKeptGuest() async -> Bool { (try? await vestibule.keptGuest) != nil }

    /// What the user has decided: `.merge`, or `.drop`, which deletes what the guest had.
    func finishGuest(_ outcome: Vestibule.GuestOutcome) async {
        do {
            try await vestibule.absorbGuest(outcome)
        } catch {
            show(error)
        }
    }
    // cut end

    // cut: profile
    func save(displayName: String) async {
        do {
            profile = try await vestibule.account.updateMe(displayName: displayName)
        } catch let error as VestibuleError {
            message = error.fields["displayName"]?.text() ?? error.text()
        } catch {
            show(error)
        }
    }
    // cut end

    // cut: sign-out
    func signOut() async {
        do {
            // In the app first, also offline; the server is asked as soon as it can be reached.
            try await vestibule.signOut()
        } catch {
            show(error)
        }
    }
    // cut end

    // cut: delete
    /// Deletes the account. Apple's credentials prove that it is the user, and their code has the server revoke the consent.
    func deleteAccount(_ credentials: Credentials) async {
        do {
            let deletion = try await vestibule.deleteAccount(credentials)
            if let date = deletion.deletesAt { message = "The account will be deleted on \(date)." }
        } catch {
            show(error)
        }
    }
    // cut end

    func show(_ error: any Error) {
        // A task ends with its view, and another user's groups are another task's.
        guard let error = error as? VestibuleError, error.code != .signedOut else { return }
        message = error.text()
    }
}
