import API
import Logging
import Models
import Postgres
import ServiceKit
import ServiceStore

/// Deliver closed accounts to profile and invites, to each at its own pace.
struct ClosingRelays: Sendable {
    /// One relay for each receiver.
    let relays: [OutboxRelay<ClosingOutbox>]
    private let outboxes: [ClosingOutbox]
    private let logger: Logger

    /// Creates relays, which do nothing before they run.
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

    /// The relays' metrics: deliveries and backlog.
    var metrics: [OutboxMetrics] { relays.map(\.metrics) }

    /// To be called when an account was closed. Any thread; never waits.
    func nudge() { for relay in relays { relay.nudge() } }

    /// Measures the backlogs until the task is cancelled.
    func watch() async {
        await withTaskGroup(of: Void.self) { group in
            for (relay, outbox) in zip(relays, outboxes) {
                group.addTask { await relay.metrics.watch(outbox, logger: logger) }
            }
        }
    }
}
