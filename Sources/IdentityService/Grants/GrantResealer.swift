import IdentityDomain
import Logging
import Postgres
import ServiceKit

/// Reseals tokens that are sealed under a retired key of the vault with the current key, so that the retired one can be removed.
///
/// It works in batches, each of them a transaction: a killed process has resealed whole batches, and the next pass finds the rest. Two
/// replicas at once skip each other's rows.
struct GrantResealer: Sendable {
    /// The pause between two passes.
    static let interval: Duration = .seconds(30)
    /// How many tokens one transaction reseals.
    static let batchMax = 200
    /// The pause between two batches.
    static let pause: Duration = .milliseconds(50)

    private let store: IdentityStore
    private let keys: CurrentKeys
    private let metrics: GrantMetrics
    private let logger: Logger

    init(store: IdentityStore, keys: CurrentKeys, metrics: GrantMetrics, logger: Logger) {
        self.store = store
        self.keys = keys
        self.metrics = metrics
        self.logger = logger
    }

    /// Reseals until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await pass()
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Reseals all tokens that can be opened.
    func pass() async {
        guard let vault = keys.current.vault, !vault.retiredIDs.isEmpty else { return }
        do {
            var after: PostgresUUID?
            var unopened = 0
            repeat {
                let batch = try await reseal(vault, after: after)
                metrics.countResealed(batch.resealed)
                unopened += batch.unopened
                after = batch.last
                if after != nil { try await Task.sleep(for: Self.pause) }
            } while after != nil
            if unopened > 0 {
                logger.error(
                    "tokens can't be opened and stay under a retired key",
                    metadata: ["tokens": .stringConvertible(unopened)]
                )
            }
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning("tokens are not sealed anew, will try again", metadata: ["cause": "\(error)"])
        }
    }

    /// Reseals one batch, after a row.
    func reseal(
        _ vault: VaultKeys,
        after: PostgresUUID?,
        limit: Int = GrantResealer.batchMax
    ) async throws -> (last: PostgresUUID?, resealed: Int, unopened: Int) {
        try await store.reseal(under: vault.retiredIDs, after: after, limit: limit) { grant in
            guard let token = try? vault.open(grant.sealed, at: grant.place) else { return nil }
            return vault.seal(token, at: grant.place)
        }
    }
}
