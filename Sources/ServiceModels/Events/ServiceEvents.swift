import API
import Logging
import Models
import Postgres
import RPC
import ServiceKit
import ServiceStore
import Synchronization

/// Delivers events about users to identity, for the targets of webhooks, and asks it which types the targets want. Events that no target
/// wants are not stored, so that a service without targets pays nothing.
public struct ServiceEvents: Sendable {
    /// How identity is called: `AcceptEvents`.
    public typealias Call =
        @Sendable (IdentityV1.AcceptEventsRequest, CallOptions) async throws(RPCError)
        -> IdentityV1.AcceptEventsResponse

    /// How often identity is asked what targets want.
    static let interval: Duration = .seconds(10)
    /// When it is asked again after a failure.
    static let retryInterval: Duration = .seconds(5)
    /// How long it may take.
    static let timeout: Duration = .seconds(5)

    /// Delivers the stored events.
    public let runner: WorkRunner<ServiceEventWork>
    private let store: ServiceEventStore
    private let types: [ServiceEventType]
    private let call: Call
    private let clock: WallClock
    private let logger: Logger
    private let isRefused = Flag()

    /// Whether identity rejected the question.
    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    /// Events of a service. Nothing happens yet.
    ///
    /// - Parameter service: the service, as ``ServiceEventType/service`` calls it.
    public init(
        of service: String,
        in work: WorkTable,
        database: PostgresClient,
        clock: WallClock,
        logger: Logger,
        call: @escaping Call
    ) {
        types = ServiceEventType.told(by: service)
        runner = WorkRunner(ServiceEventWork(call: call), in: work, logger: logger)
        store = ServiceEventStore(database: database)
        self.call = call
        self.clock = clock
        self.logger = logger
    }

    /// Asks what targets want, until the task is cancelled.
    public func ask() async {
        while !Task.isCancelled {
            let isKnown = await askOnce()
            try? await Task.sleep(for: isKnown ? Self.interval : Self.retryInterval)
        }
    }

    /// Deletes events that identity never accepted.
    public var cleanup: Cleanup.Step {
        Cleanup.Step("events that were not delivered") { limit in
            try await store.forget(nowMilliseconds: clock.nowMilliseconds, limit: limit)
        }
    }

    /// Asks what targets want, and stores it. Returns false if the answer is unknown; then nothing changes.
    public func askOnce() async -> Bool {
        do {
            guard let wanted = await wanted() else { return false }
            try await store.want(wanted)
            return true
        } catch {
            if !Task.isCancelled {
                logger.warning("the types of wanted events are not stored", metadata: ["cause": "\(error)"])
            }
            return false
        }
    }

    /// The types that targets want of this service; none if identity doesn't know the method or rejects this service; nil if it fails.
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
}
