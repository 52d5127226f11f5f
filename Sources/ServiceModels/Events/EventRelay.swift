import API
import Logging
import Models
import Postgres
import RPC
import ServiceKit
import ServiceStore
import Synchronization

/// Tells identity what happened to people, for the targets of webhooks, and asks it what they want to know.
///
/// What nobody wants is not written down, so that a service that tells nobody pays nothing.
public struct EventRelay: Sendable {
    /// How identity is called: `AcceptEvents`.
    public typealias Call =
        @Sendable (IdentityV1.AcceptEventsRequest, CallOptions) async throws(RPCError)
        -> IdentityV1.AcceptEventsResponse

    /// How often identity is asked what targets want.
    static let interval: Duration = .seconds(10)
    /// When it is asked again if it can't be.
    static let retryInterval: Duration = .seconds(5)
    /// How long it may take. The relay holds a transaction meanwhile, so it is well below what that may take.
    static let timeout: Duration = .seconds(5)

    /// Hands on what was written down.
    public let relay: OutboxRelay<EventOutbox>
    private let outbox: EventOutbox
    private let store: EventStore
    private let types: [ServiceEventType]
    private let call: Call
    private let clock: WallClock
    private let logger: Logger
    private let isRefused = Flag()

    /// Whether identity refused to be asked.
    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    /// What tells the events of a service, and does nothing yet.
    ///
    /// - Parameter service: the service, as ``ServiceEventType/service`` calls it.
    public init(
        of service: String,
        database: PostgresClient,
        clock: WallClock,
        logger: Logger,
        configuration: OutboxRelay<EventOutbox>.Configuration = .init(),
        call: @escaping Call
    ) {
        types = ServiceEventType.told(by: service)
        outbox = EventOutbox(database: database, rows: EventRows(), nowMilliseconds: { clock.nowMilliseconds })
        store = EventStore(database: database)
        self.call = call
        self.clock = clock
        self.logger = logger
        relay = OutboxRelay(
            store: outbox,
            receiver: "identity",
            configuration: configuration,
            logger: logger,
            deliver: { try await Self.deliver($0, call) }
        )
    }

    /// Asks again and again what targets want, until the task is cancelled.
    public func ask() async {
        while !Task.isCancelled {
            let isKnown = await askOnce()
            try? await Task.sleep(for: isKnown ? Self.interval : Self.retryInterval)
        }
    }

    /// Counts what waits until the task is cancelled.
    public func watch() async { await relay.metrics.watch(outbox, logger: logger) }

    /// Forgets what identity never took.
    public var cleanup: Cleanup.Step {
        Cleanup.Step("events that were not delivered") { limit in
            try await store.forget(nowMilliseconds: clock.nowMilliseconds, limit: limit)
        }
    }

    /// Asks what targets want, and writes it down. False if that isn't known now: then it stays as it was.
    public func askOnce() async -> Bool {
        do {
            guard let wanted = await wanted() else { return false }
            try await store.want(wanted)
            return true
        } catch {
            if !Task.isCancelled {
                logger.warning("which events are wanted is not written down", metadata: ["cause": "\(error)"])
            }
            return false
        }
    }

    /// What targets want of what we tell; nothing where identity doesn't listen, or not to us; nil if it can't be asked.
    private func wanted() async -> [ServiceEventType]? {
        do throws(RPCError) {
            let answer = try await call(IdentityV1.AcceptEventsRequest(), CallOptions(timeout: Self.timeout))
            isRefused.value.store(false, ordering: .relaxed)
            return types.filter { answer.wantedTypes.contains($0.rawValue) }
        } catch {
            switch error.code {
            case .unimplemented, .permissionDenied, .unauthenticated:
                if !isRefused.value.exchange(true, ordering: .relaxed) {
                    logger.warning("events may not reach identity", metadata: ["rpc_code": "\(error.code)"])
                }
                return []
            default: return nil
            }
        }
    }

    /// Tells all of these events or, if it throws, perhaps none: they may be told again. None is ever set aside: what identity
    /// doesn't take is tried again alone, more and more seldom, and holds up no other.
    private static func deliver(_ events: [EventRows.Event], _ call: Call) async throws {
        var request = IdentityV1.AcceptEventsRequest()
        request.events = events.map(IdentityV1.ServiceEvent.init)
        do throws(RPCError) {
            _ = try await call(request, CallOptions(timeout: timeout))
        } catch {
            let failure = error.outboxFailure
            guard failure is OutboxRejection || failure is OutboxSetback else { throw failure }
            throw OutboxSetback(reason: error.reason ?? error.code.description, cause: error, isEventAtFault: false)
        }
    }
}

extension IdentityV1.ServiceEvent {
    /// An event as identity is told it.
    init(_ event: EventRows.Event) {
        self.init()
        eventID = event.id.description
        type = event.type
        userID = event.userID.description
        occurredAtMilliseconds = event.occurredAtMilliseconds
        groupID = event.groupID?.description ?? ""
        memberID = event.memberID?.description ?? ""
    }
}
