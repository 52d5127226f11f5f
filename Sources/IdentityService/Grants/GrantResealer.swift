import IdentityDomain
import Logging
import Postgres
import ServiceKit

/// Seals anew, under the current key of the vault, what is sealed under a retired one, so that the retired one can go.
///
/// In batches, each of them a transaction: whoever is killed has sealed whole batches, and the next pass finds the rest. Two that do it at
/// once pass each other's rows over.
struct GrantResealer: Sendable {
    /// The pause between two passes.
    static let interval: Duration = .seconds(30)
    /// How many tokens one transaction seals.
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

    /// Seals anew until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await pass()
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Seals anew all that can be.
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

    /// One batch, beyond a row.
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
