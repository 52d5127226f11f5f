import API
import RPC
import Synchronization

/// Receives from identity which sessions ended, and ends their subscriptions; and which accounts were changed, and notifies the
/// subscribers of their other sessions.
///
/// A new stream repeats the ends of the last eighty minutes, which is longer than an access token and so any subscription lasts: an
/// interruption misses no end. It may miss a change of an account: the list of sessions has it.
final class SessionEnds: Sendable {
    /// An end of all sessions that is younger than this when first received may have come after a subscription began.
    private static let young: Duration = .seconds(60)

    private let watches: GroupWatches
    /// The position to go on from, and since when sessions must have begun.
    private let known = Mutex<(position: [UInt8], sessionsFrom: Int64?)>(([], nil))

    init(watches: GroupWatches) { self.watches = watches }

    /// Runs one stream until it ends or there are no subscribers left.
    func hold(_ heard: LastMessageTime) async throws {
        var options = CallOptions(deadline: .never)
        options.inheritsFromCall = false
        var request = IdentityV1.WatchRevocationsRequest()
        request.position = .init(known.withLock { $0.position })
        try await watches.identity.watchRevocations(request, options: options) { messages in
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    for try await message in messages {
                        self.take(message)
                        heard.now()
                    }
                }
                group.addTask { while self.watches.isWatched { try await Task.sleep(for: self.watches.limits.tick) } }
                try await group.next()
            }
        }
    }

    private func take(_ message: IdentityV1.WatchRevocationsResponse) {
        watches.endSessions(message.sessionIds)
        watches.notify(message.accountChanges)
        let isOver = known.withLock { known in
            if message.caughtUp, !message.position.isEmpty { known.position = Array(message.position) }
            guard message.hasSessionsFromMilliseconds else { return false }
            let from = message.sessionsFromMilliseconds
            defer { known.sessionsFrom = from }
            if let before = known.sessionsFrom { return from != before }
            return Duration.milliseconds(from) > .milliseconds(message.toldAtMilliseconds) - Self.young
        }
        // Identity knows which sessions it ended.
        if isOver { watches.endAll(.comeAgain) }
    }
}
