/// Everything that the console does for an operator, and what it takes: the one table of rights.
enum ConsoleAct: String, Sendable, Hashable, CaseIterable {
    case find
    case list
    case look
    case disputes
    case work
    case charts
    case reveal
    case endSessions = "end-sessions"
    case releasePhone = "release-phone"
    case block
    case unblock
    case delete

    /// The least role that may do it.
    var role: ConsoleRole {
        switch self {
        case .find, .list, .look, .disputes, .work, .charts: .read
        case .reveal, .endSessions, .releasePhone, .block, .unblock: .support
        case .delete: .owner
        }
    }

    /// Whether it needs a sign-in younger than the configured time, and the account's number typed in.
    var isGuarded: Bool {
        switch self {
        case .block, .delete: true
        case .find, .list, .look, .disputes, .work, .charts, .reveal, .endSessions, .releasePhone, .unblock: false
        }
    }

    /// The acts on an account that change something, in the order of the page.
    static let changes: [ConsoleAct] = [.endSessions, .releasePhone, .block, .unblock, .delete]
}

/// Why an act is refused before anything is done.
enum ActRefusal: Error, Sendable, Hashable {
    /// The operator's role doesn't allow it.
    case role(ConsoleRole)
    /// The sign-in is too old.
    case signInTooOld
    /// The form's box isn't checked.
    case unconfirmed
    /// What was typed is not the number of the account.
    case numberDiffers
    /// The account has another phone number by now than the page showed, or none.
    case phoneDiffers
    /// The operator has searched too often within a minute.
    case tooManySearches
}

extension ConsoleAct {
    /// Judges an act: the one place that does.
    ///
    /// - Parameters:
    ///   - signInAgeSeconds: how long ago the operator proved to the provider who they are; nil for a certificate, whose owner proves the
    ///     key with each connection.
    ///   - freshSeconds: how old a sign-in may be for guarded acts.
    /// - Throws: the refusal.
    func judge(
        _ role: ConsoleRole,
        signInAgeSeconds: Int64?,
        freshSeconds: Int64
    ) throws(ActRefusal) {
        guard role >= self.role else { throw .role(self.role) }
        guard isGuarded, let signInAgeSeconds else { return }
        guard signInAgeSeconds <= freshSeconds else { throw .signInTooOld }
    }
}
