import API
import Logging
import Models
import Postgres
import ServiceKit
import ServiceStore

/// Tell profile and invites that accounts were closed, each at its own pace.
struct ClosingRelays: Sendable {
    /// One for each receiver.
    let relays: [OutboxRelay<ClosingOutbox>]
    private let outboxes: [ClosingOutbox]
    private let logger: Logger

    /// Relays, which do nothing before they are run.
    init(
        database: PostgresClient,
        profile: ProfileServiceClient,
        invites: InvitesServiceClient,
        clock: WallClock,
        logger: Logger
    ) {
        let deliveries = [(ClosingReceiver.profile, ClosingDelivery(profile)), (.invites, ClosingDelivery(invites))]
        outboxes = deliveries.map { receiver, _ in
            ClosingOutbox(
                database: database,
                rows: ClosingRows(to: receiver, clock: clock),
                nowMilliseconds: { clock.nowMilliseconds }
            )
        }
        relays = zip(outboxes, deliveries).map { outbox, to in
            OutboxRelay(
                store: outbox,
                receiver: to.0.rawValue,
                logger: logger,
                deliver: { try await to.1.deliver($0) }
            )
        }
        self.logger = logger
    }

    /// What they did, and what waits.
    var metrics: [OutboxMetrics] { relays.map(\.metrics) }

    /// Says that an account was closed. Any thread; never waits.
    func nudge() { for relay in relays { relay.nudge() } }

    /// Looks at what waits until the task is cancelled.
    func watch() async {
        await withTaskGroup(of: Void.self) { group in
            for (relay, outbox) in zip(relays, outboxes) {
                group.addTask { await relay.metrics.watch(outbox, logger: logger) }
            }
        }
    }
}
