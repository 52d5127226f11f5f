/// A subscription, which ends when its last reference is released: also where a response never begins.
final class GroupWatch: Sendable {
    private let watcher: GroupWatcher
    private let watches: GroupWatches
    /// Where it begins, and what was missed.
    let begun: WatchUpdate

    init(_ watcher: GroupWatcher, begun: WatchUpdate, of watches: GroupWatches) {
        self.watcher = watcher
        self.begun = begun
        self.watches = watches
    }

    deinit { watches.close(watcher) }

    /// Passes all further messages to `tell` until the subscription ends.
    ///
    /// - Throws: `WatchEnd`, or the error of `tell`.
    func follow(_ tell: @escaping @Sendable (WatchUpdate) async throws -> Void) async throws {
        try await watcher.run(tell)
    }
}
