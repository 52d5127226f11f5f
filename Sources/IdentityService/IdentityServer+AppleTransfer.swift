import IdentityDomain
import Logging
import Models
import OutgoingHTTP
import RPCTransport
import ServiceKit
import ServiceStore

extension IdentityServer {
    /// Hands Apple users over to another developer team, or takes over the users whom another team handed over.
    ///
    /// - Parameter tell: called with progress and rejections, on any thread.
    /// - Returns: the final progress; for a dry order the number of users to transfer.
    /// - Throws: ``AppleTransferError``, or the database's errors. Finished users stay done.
    public func transferApple(
        _ order: AppleTransferOrder,
        _ tell: @escaping @Sendable (AppleTransferEvent) -> Void
    ) async throws -> AppleTransferProgress {
        try await withEventLoopGroup(loopCount: 1, name: Self.programName) { group in
            let http = HTTPSClient(
                userAgent: "vestibule-identity",
                group: group,
                trust: TrustStore.system(),
                proxies: settings.proxies
            )
            let endpoint = try UserMigrationEndpoint(
                settings.providers,
                clientID: order.clientID,
                http: http,
                clock: .system
            )
            return try await runtime.withDatabase(timeout: IdentityStore.transferStatementLimit) { database in
                let store = IdentityStore(database: database, limits: settings.limits)
                let transfer = AppleTransfer(store: store, endpoint: endpoint, order: order, clock: .system)
                let outcome = try await transfer.run(tell)
                Logger(label: Self.programName).notice(
                    "people of Apple's transferred",
                    metadata: [
                        "total": "\(outcome.total)", "done": "\(outcome.done)", "rejected": "\(outcome.rejected)",
                        "gone": "\(outcome.gone)", "dry": "\(order.isDry)",
                    ]
                )
                return outcome
            }
        }
    }

    /// The progress of transfers, a line each.
    public func appleTransfers() async throws -> [String] {
        try await runtime.withDatabase(timeout: IdentityStore.transferStatementLimit) { database in
            let store = IdentityStore(database: database, limits: settings.limits)
            let (people, transfers) = try await store.transferCounts()
            return ["\(people) people of Apple's"]
                + transfers.map { counts in
                    "from \(counts.transfer.from) to \(counts.transfer.to): \(counts.waiting) handed over and not arrived, "
                        + "\(counts.imported) arrived"
                }
        }
    }
}
