import Foundation

/// Passes changes of the state on to the consumers, and ends what belongs to a session that is over.
final class StateAnnouncer: Sendable {
    private struct Announced {
        /// What was announced last; nil until the record was read.
        var state: SessionState?
        var watchers: [UUID: AsyncStream<SessionState>.Continuation] = [:]
        /// What is to be done when the user changes or signs out.
        var endings: [UUID: @Sendable () -> Void] = [:]
    }

    private let lock = NSLock()
    // Guarded by `lock`.
    nonisolated(unsafe) private var announced = Announced()

    static func state(of record: SessionRecord) -> SessionState {
        record.session.map { .signedIn(userID: $0.userID, isGuest: $0.isGuest) } ?? .signedOut(reason: record.ended)
    }

    /// Announces the state of a record if it is another one than before.
    func announce(_ record: SessionRecord) {
        let state = Self.state(of: record)
        let (watchers, endings) = lock.withLock {
            let last = announced.state
            // A reason that was cleared is no change.
            if state == last || (state == .signedOut(reason: nil) && last?.isSignedOut == true) {
                return ([AsyncStream<SessionState>.Continuation](), [@Sendable () -> Void]())
            }
            announced.state = state
            // A guest who has linked a provider is the same user.
            guard let last, state.userID == nil || state.userID != last.userID else {
                return (Array(announced.watchers.values), [])
            }
            defer { announced.endings = [:] }
            return (Array(announced.watchers.values), Array(announced.endings.values))
        }
        for ending in endings { ending() }
        for watcher in watchers { watcher.yield(state) }
    }

    /// Adds a consumer, who gets the state of a record.
    func add(_ continuation: AsyncStream<SessionState>.Continuation, _ record: SessionRecord?) {
        let id = UUID()
        continuation.onTermination = { [weak self] _ in
            self?.lock.withLock { _ = self?.announced.watchers.removeValue(forKey: id) }
        }
        let state = lock.withLock {
            announced.watchers[id] = continuation
            return record.map(Self.state) ?? announced.state
        }
        if let state { continuation.yield(state) }
    }

    /// Does something when the user changes or signs out, once; at once if that was before.
    ///
    /// - Returns: What takes it back.
    func atEnd(of userID: String, _ ending: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let id = UUID()
        let isOver = lock.withLock {
            announced.endings[id] = ending
            return announced.state != nil && announced.state?.userID != userID
        }
        if isOver { ending() }
        return { [weak self] in self?.lock.withLock { _ = self?.announced.endings.removeValue(forKey: id) } }
    }
}

extension SessionState {
    fileprivate var isSignedOut: Bool {
        if case .signedOut = self { return true }
        return false
    }
}
