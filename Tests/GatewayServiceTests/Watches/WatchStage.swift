import API
import APIDoubles
import HTTPClients
import HTTPTypes
import JOSE
import Logging
import RPC
import ServiceKit
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// A gateway with running streams, between watching apps and doubles of invites and identity.
final class WatchStage: Sendable {
    private struct State {
        var begun: [(id: UInt64, begin: InvitesV1.WatchBegin)] = []
        var ended: [UInt64] = []
        var streams = 0
        var accepts = true
    }

    /// The first message about a watch.
    let first: Mutex<InvitesV1.WatchBegun> = Mutex(
        .with { ($0.position, $0.positionKey) = (.init([1]), .init(positionKey.bytes)) }
    )
    /// The key that seals positions.
    static let positionKey = CursorKey([UInt8](repeating: 7, count: CursorKey.byteCount))!

    /// A position as apps get it.
    static func sealed(_ position: UInt8) -> String { Base64URL.encode(positionKey.seal([position])) }

    let gateway: TestGateway
    private final class Passed: Sendable { let seconds = Mutex<Int64>(0) }

    private let passed: Passed
    private let state = Mutex(State())
    private let news = Feed<InvitesV1.WatchGroupsResponse>()
    private let ends = Feed<IdentityV1.WatchRevocationsResponse>()

    static let sessionID = "0190c2a5-7f00-7000-8000-0000000000aa"

    /// The current time in Unix seconds, which stands still.
    static let start: Int64 = 1_700_000_000
    private static let lifetime: Int64 = 600

    private init(_ limits: GroupWatches.Limits) {
        let passed = Passed()
        self.passed = passed
        gateway = TestGateway(watchLimits: limits, nowSeconds: { Self.start + passed.seconds.withLock { $0 } })
    }

    /// Limits with short times.
    static var quick: GroupWatches.Limits {
        var limits = GroupWatches.Limits()
        limits.tick = .milliseconds(5)
        return limits
    }

    static func run(
        _ limits: GroupWatches.Limits = quick,
        _ body: (WatchStage) async throws -> Void
    ) async throws {
        let stage = WatchStage(limits)
        stage.answer(expiresAtSeconds: start + lifetime)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let quiet = logger
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { await stage.watches.run(logger: quiet) }
            try await body(stage)
        }
    }

    var watches: GroupWatches { gateway.gateway.methods.watches }
    var begun: [(id: UInt64, begin: InvitesV1.WatchBegin)] { state.withLock { $0.begun } }
    var ended: [UInt64] { state.withLock { $0.ended } }
    var streams: Int { state.withLock { $0.streams } }

    /// Advances the clock past a token's expiry.
    func expireTokens() { passed.seconds.withLock { $0 = Self.lifetime } }

    /// Whether invites accepts streams.
    func accepts(_ accepts: Bool) { state.withLock { $0.accepts = accepts } }

    private func answer(expiresAtSeconds: Int64) {
        gateway.stubs.identity.set { answers in
            answers.checkSession = { _, _ in
                .with {
                    $0.userID = StubServices.userID
                    $0.sessionID = Self.sessionID
                    $0.expiresAtSeconds = expiresAtSeconds
                    $0.callerProofs = StubServices.proofs
                }
            }
            answers.watchRevocations = { [ends] _, responses, _ in
                try await responses.write(.with { $0.caughtUp = true })
                for await message in ends.subscribe() { try await responses.write(message) }
            }
        }
        gateway.stubs.invites.set { answers in
            answers.watchGroups = { [weak self] requests, responses, _ in
                guard let self, self.state.withLock({ $0.accepts }) else { throw RPCError(.unavailable, "away") }
                self.state.withLock { $0.streams += 1 }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    defer { group.cancelAll() }
                    group.addTask { for try await request in requests { try await self.take(request, responses) } }
                    group.addTask {
                        for await message in self.news.subscribe() {
                            if message.news == nil { throw RPCError(.unavailable, "the server is stopping") }
                            try await responses.write(message)
                        }
                    }
                    try await group.next()
                }
            }
        }
    }

    private func take(
        _ request: InvitesV1.WatchGroupsRequest,
        _ responses: MessageWriter<InvitesV1.WatchGroupsResponse>
    ) async throws {
        switch request.action {
        case .begin(let begin):
            state.withLock { $0.begun.append((request.watchID, begin)) }
            var message = InvitesV1.WatchGroupsResponse()
            message.begun = first.withLock { $0 }
            message.begun.watchID = request.watchID
            try await responses.write(message)
        case .end: state.withLock { $0.ended.append(request.watchID) }
        case nil: break
        }
    }

    /// Makes invites report a group's change to watchers.
    func change(_ kind: AppV1.GroupChangeKind, position: UInt8, to ids: [UInt64]) {
        news.send(
            .with {
                $0.changed.position = .init([position])
                $0.changed.watched = [
                    .with {
                        $0.watchIds = ids
                        $0.changes = [
                            .with {
                                $0.kind = kind
                                $0.groupID = "g"
                                $0.memberID = "m"
                            }
                        ]
                    }
                ]
            }
        )
    }

    /// Makes invites reset all watchers.
    func reset(position: UInt8) {
        news.send(
            .with {
                $0.changed.position = .init([position])
                $0.changed.isReset = true
            }
        )
    }

    /// Makes invites end the stream.
    func loseStream() { news.send(.init()) }

    /// Makes identity report ended sessions.
    func end(_ sessions: [String], sessionsFrom: Int64? = nil) {
        ends.send(
            .with {
                $0.sessionIds = sessions
                $0.caughtUp = true
                if let sessionsFrom { $0.sessionsFromMilliseconds = sessionsFrom }
            }
        )
    }

    /// A change of an account.
    static func accountChange(_ userID: String, by sessionID: String) -> IdentityV1.AccountChange {
        .with {
            ($0.userID, $0.kind, $0.provider) = (userID, "provider_linked", "google")
            ($0.occurredAtMs, $0.sessionID) = (1_800_000_000_000, sessionID)
        }
    }

    /// Makes identity report a changed account.
    func change(_ change: IdentityV1.AccountChange) { ends.send(.with { $0.accountChanges = [change] }) }

    /// Runs `GET /me/events` until it ends; returns its text.
    func watch(after position: String? = nil) async throws -> (status: Int, text: String) {
        var headers: HTTPFields = [.authorization: "Bearer \(StubServices.accessToken)"]
        if let position { headers[try #require(HTTPField.Name("Last-Event-ID"))] = position }
        let answer = try await HandlerClient(gateway.handler).send(.get, "/me/events", headers: headers)
        return (answer.status.code, answer.text)
    }

}

/// Messages for the current subscriber, or for the next one. An `AsyncStream` alone ends with its first subscriber.
private final class Feed<Message: Sendable>: Sendable {
    private struct State {
        var subscriber: AsyncStream<Message>.Continuation?
        var waiting: [Message] = []
    }

    private let state = Mutex(State())

    func send(_ message: Message) {
        state.withLock { state in
            if case .enqueued = state.subscriber?.yield(message) { return }
            state.waiting.append(message)
        }
    }

    func subscribe() -> AsyncStream<Message> {
        let (stream, subscriber) = AsyncStream<Message>.makeStream()
        state.withLock { state in
            for message in state.waiting { subscriber.yield(message) }
            state = State(subscriber: subscriber)
        }
        return stream
    }
}
