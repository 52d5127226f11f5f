import API
import InvitesDomain
import Models
import ServiceKit
import Synchronization
import TestWaits
import Testing

@testable import InvitesService

/// A gateway's stream, and what each watcher received on it.
final class TestWatch: Sendable {
    private struct State {
        var begun: [UInt64: InvitesV1.WatchBegun] = [:]
        var refused: [UInt64: String] = [:]
        var told: [UInt64: [AppV1.GroupChange]] = [:]
        var resets = 0
        var anew: [UInt64: Int] = [:]
        var position: [UInt8] = []
        var lastID: UInt64 = 0
        var hasEnded = false
    }

    let hub: GroupEventHub
    let stream: GroupEventStream
    private let state = Mutex(State())

    private init(_ hub: GroupEventHub, _ stream: GroupEventStream) {
        self.hub = hub
        self.stream = stream
    }

    /// Runs a hub and a stream of it.
    static func run(_ hub: GroupEventHub, _ body: (TestWatch) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { await hub.run() }
            try await open(hub, body)
        }
    }

    /// A stream of a running hub.
    static func open(_ hub: GroupEventHub, _ body: (TestWatch) async throws -> Void) async throws {
        let stream = try #require(hub.open())
        let watch = TestWatch(hub, stream)
        defer { hub.close(stream) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                while let messages = await stream.next() { for message in messages { watch.take(message) } }
                watch.state.withLock { $0.hasEnded = true }
            }
            try await body(watch)
        }
    }

    private func take(_ message: InvitesV1.WatchGroupsResponse) {
        state.withLock { state in
            switch message.news {
            case .begun(let begun) where state.begun[begun.watchID] != nil:
                state.anew[begun.watchID, default: 0] += begun.isReset ? 1 : 0
                state.position = Array(begun.position)
            case .begun(let begun):
                state.begun[begun.watchID] = begun
                state.told[begun.watchID, default: []] += begun.changes
                state.position = Array(begun.position)
            case .refused(let refused): state.refused[refused.watchID] = refused.reason
            case .changed(let news):
                if news.isReset { state.resets += 1 }
                state.position = Array(news.position)
                for watched in news.watched {
                    for id in watched.watchIds { state.told[id, default: []] += watched.changes }
                }
            case nil: break
            }
        }
    }

    var position: [UInt8] { state.withLock { $0.position } }
    var resets: Int { state.withLock { $0.resets } }
    /// How often a watcher started again without a request.
    func resets(of begun: InvitesV1.WatchBegun) -> Int { state.withLock { $0.anew[begun.watchID] ?? 0 } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Starts a user's watch, and waits until it has begun.
    func begin(_ user: UserID, from start: GroupEventState.Start = .now) async throws -> InvitesV1.WatchBegun {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        hub.begin(id, of: user, from: start, on: stream)
        return try await found { $0.begun[id] }
    }

    /// The changes that a watcher received so far.
    func told(_ begun: InvitesV1.WatchBegun) -> [AppV1.GroupChange] {
        state.withLock { $0.told[begun.watchID] ?? [] }
    }

    /// The changes that a watcher received so far, and the position.
    func toldSoFar(_ begun: InvitesV1.WatchBegun) -> (told: [AppV1.GroupChange], position: [UInt8]) {
        state.withLock { ($0.told[begun.watchID] ?? [], $0.position) }
    }

    /// Waits until a watcher received a change.
    func wait(_ begun: InvitesV1.WatchBegun, for kind: AppV1.GroupChangeKind, in group: String) async throws {
        _ = try await found { state in
            (state.told[begun.watchID] ?? []).first { $0.kind == kind && $0.groupID == group }
        }
    }

    /// Waits until a watcher started again without a request.
    func waitForReset(of begun: InvitesV1.WatchBegun) async throws {
        _ = try await found { $0.anew[begun.watchID] }
    }

    /// Waits for this number of resets.
    func waitForResets(_ count: Int) async throws { _ = try await found { $0.resets >= count ? true : nil } }

    func waitForEnd() async throws { _ = try await found { $0.hasEnded ? true : nil } }

    private func found<Value>(_ value: (State) -> Value?) async throws -> Value {
        try await eventualValue { state.withLock { value($0) } }
    }

}

extension GroupPosition {
    /// A position between transactions.
    init(epoch: Epoch, madeAtSeconds: Int64, snapshot: DatabaseSnapshot) {
        self.init(epoch: epoch, madeAtSeconds: madeAtSeconds, point: GroupLogPoint(snapshot))
    }

    init(epoch: Epoch, madeAtSeconds: Int64, point: GroupLogPoint) {
        self.init(epoch: epoch, madeAtSeconds: madeAtSeconds, place: .snapshot(point))
    }

    /// Of a position of snapshots.
    var point: GroupLogPoint {
        guard let point = place.point else { preconditionFailure("the position of a clock") }
        return point
    }

    /// Of a position of snapshots.
    var snapshot: DatabaseSnapshot { point.snapshot }

    /// A position that invites gave to a gateway; nil if it is invalid.
    init?(given bytes: [UInt8]) {
        guard let position = try? Self(parsing: bytes[...]) else { return nil }
        self = position
    }
}

extension AppV1.GroupChange {
    /// As one line.
    var line: String { "\(kind) \(groupID) \(memberID)" }
}
