/// A place among those who watch, given back when nobody holds it any more: also where an answer is never begun.
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

    /// Tells all that follows until it ends.
    ///
    /// - Throws: `WatchEnd`, or what telling throws.
    func follow(_ tell: @escaping @Sendable (WatchUpdate) async throws -> Void) async throws {
        try await watcher.run(tell)
    }
}
