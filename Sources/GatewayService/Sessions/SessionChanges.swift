import Synchronization

/// The sessions that ended and the accounts that changed a moment ago: what makes an answer that identity gave before worthless.
///
/// Changes are numbered. An answer has the number of the last change when identity was asked for it, and is good as long as no later change
/// names its session or its user. So an end that arrives while identity answers is not missed, whichever comes first.
///
/// Two generations, each kept for at least ``kept`` and at most twice of it. Any thread; the lock is held for moments only, and a request
/// takes it only if something changed since its answer was used last.
final class SessionChanges: Sendable {
    /// How long changes are kept: longer than an answer is used, and than a request takes from the check of its session to its subscription.
    static let kept: Duration = .seconds(75)
    /// The maximum of sessions and of users in one generation. With one more all answers from before are dropped.
    static let generationMax = 50_000

    private struct Generation {
        var sessions: [String: UInt64] = [:]
        var users: [String: UInt64] = [:]

        var isFull: Bool { max(sessions.count, users.count) >= SessionChanges.generationMax }
    }

    private struct Values {
        var number: UInt64 = 0
        /// Answers from before this change are worthless.
        var allBefore: UInt64 = 0
        var newer = Generation()
        var older = Generation()
        var turnedAt: ContinuousClock.Instant

        mutating func turn(now: ContinuousClock.Instant) {
            guard now - turnedAt >= SessionChanges.kept else { return }
            (older, newer, turnedAt) = (newer, Generation(), now)
        }

        /// The last change of a session or a user; 0 if there is none.
        func last(session: String, user: String) -> UInt64 {
            var last = allBefore
            for generation in [newer, older] {
                last = max(last, generation.sessions[session] ?? 0, generation.users[user] ?? 0)
            }
            return last
        }
    }

    private let values: Mutex<Values>
    private let latest = Atomic<UInt64>(0)

    /// None yet.
    init(now: ContinuousClock.Instant = .now) { values = Mutex(Values(turnedAt: now)) }

    /// The number of the last change.
    var number: UInt64 { latest.load(ordering: .acquiring) }

    /// These sessions ended; these users' accounts changed, or more of their sessions ended. When it returns no earlier answer about them is
    /// used. Ids are in small letters; empty ones are left out.
    func note(sessions: [String] = [], users: [String] = [], now: ContinuousClock.Instant = .now) {
        guard sessions.contains(where: { !$0.isEmpty }) || users.contains(where: { !$0.isEmpty }) else { return }
        values.withLock { values in
            values.turn(now: now)
            let number = values.number + 1
            for session in sessions where !session.isEmpty { values.newer.sessions[session] = number }
            for user in users where !user.isEmpty { values.newer.users[user] = number }
            values.number = number
            if values.newer.isFull {
                (values.older, values.newer) = (values.newer, Generation())
                values.allBefore = number
            }
            latest.store(number, ordering: .releasing)
        }
    }

    /// Anything may have changed. When it returns no earlier answer is used.
    func noteAll() {
        values.withLock { values in
            values.number += 1
            values.allBefore = values.number
            latest.store(values.number, ordering: .releasing)
        }
    }

    /// The number of the last change if none after `number` is about the session or its user; else nil.
    func number(ifUnchanged session: String, of user: String, since number: UInt64) -> UInt64? {
        values.withLock { $0.last(session: session, user: user) <= number ? $0.number : nil }
    }

    /// Whether a session ended a moment ago.
    func hasEnded(_ session: String) -> Bool {
        values.withLock { $0.newer.sessions[session] != nil || $0.older.sessions[session] != nil }
    }
}
