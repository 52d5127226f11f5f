import API
import RPC
import Synchronization

/// Receives from identity which sessions ended, and ends their subscriptions; and which accounts were changed, and notifies the
/// subscribers of their other sessions. What identity said of them before is used no more.
///
/// A new stream repeats the ends of the last eighty minutes, which is longer than an access token and so any subscription lasts: an
/// interruption misses no end. It may miss a change of an account: the list of sessions has it.
final class SessionEnds: Sendable {
    /// Thrown for an open stream that is silent.
    private struct Silence: Error {}

    /// An end of all sessions that is younger than this when first received may have come after a subscription began.
    private static let young: Duration = .seconds(60)
    /// How long identity may be silent before the next server of it is asked; it sends something each second.
    private static let silenceMax: Duration = .seconds(5)

    private struct Known {
        /// The position to go on from.
        var position: [UInt8] = []
        /// Since when sessions must have begun.
        var sessionsFrom: Int64?
        var age = NewsAge()
    }

    private let watches: GroupWatches
    /// Nil where identity is asked about each token.
    private let answers: SessionAnswers?
    private let known = Mutex(Known())
    private let start = ContinuousClock.now

    init(watches: GroupWatches, answers: SessionAnswers?) {
        self.watches = watches
        self.answers = answers
    }

    /// Whether a stream is needed: always for answers, else while there are subscribers.
    var isNeeded: Bool { answers != nil || watches.isWatched }

    /// Runs one stream until it ends or is needed no more.
    func hold(_ heard: LastMessageTime) async throws {
        var options = CallOptions(deadline: .never)
        options.inheritsFromCall = false
        var request = IdentityV1.WatchRevocationsRequest()
        request.position = .init(
            known.withLock { known in
                // Another server has another clock.
                known.age = NewsAge()
                return known.position
            }
        )
        if answers != nil { request.heartbeatMilliseconds = Int64(SessionAnswers.heartbeat / .milliseconds(1)) }
        try await watches.identity.watchRevocations(request, options: options) { messages in
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    for try await message in messages {
                        self.take(message)
                        heard.now()
                    }
                }
                group.addTask {
                    while self.isNeeded {
                        try await Task.sleep(for: self.watches.limits.tick)
                        if heard.age > Self.silenceMax { throw Silence() }
                    }
                }
                try await group.next()
            }
        }
    }

    private func take(_ message: IdentityV1.WatchRevocationsResponse) {
        let now = ContinuousClock.now
        watches.endSessions(message.sessionIds, changedUsers: message.accountChanges.map(\.userID))
        watches.notify(message.accountChanges)
        let (isOver, isOther, age) = known.withLock { known -> (Bool, Bool, Duration) in
            if message.caughtUp, !message.position.isEmpty { known.position = Array(message.position) }
            let isOther = message.reset
            let age = message.caughtUp ? known.age.age(of: message, arrivedAt: now - start) : .zero
            guard message.hasSessionsFromMilliseconds else { return (false, isOther, age) }
            let from = message.sessionsFromMilliseconds
            defer { known.sessionsFrom = from }
            if let before = known.sessionsFrom { return (from != before, isOther || from != before, age) }
            return (Duration.milliseconds(from) > .milliseconds(message.toldAtMilliseconds) - Self.young, true, age)
        }
        // First: an answer that is kept from now on is by these.
        answers?.judge(
            by: message.keysID,
            sessionsFromMilliseconds: message.hasSessionsFromMilliseconds ? message.sessionsFromMilliseconds : nil
        )
        if isOther { watches.changes.noteAll() }
        // Identity knows which sessions it ended.
        if isOver { watches.endAll(.comeAgain) }
        if message.caughtUp { answers?.heard(at: now, age: age) }
    }
}

extension NewsAge {
    /// How old the news of a message are: what the server counted until it sent them, and how long they were under way.
    fileprivate mutating func age(of message: IdentityV1.WatchRevocationsResponse, arrivedAt: Duration) -> Duration {
        let before = max(0, min(message.ageMilliseconds, 86_400_000))
        // By a clock that was set meanwhile it was sent at another time, which is seen as any step of it is.
        let sentAt = message.toldAtMilliseconds.addingReportingOverflow(before).partialValue
        return age(sentAtMilliseconds: sentAt, arrivedAt: arrivedAt) + .milliseconds(before)
    }
}
