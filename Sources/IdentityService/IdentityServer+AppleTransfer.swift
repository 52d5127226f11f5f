import IdentityDomain
import Logging
import Models
import OutgoingHTTP
import RPCTransport
import ServiceKit
import ServiceStore

extension IdentityServer {
    /// Hands Apple's people over to another developer team, or takes over those whom another one handed over.
    ///
    /// - Parameter tell: is told how it goes, from any thread.
    /// - Returns: what was done; with a dry order whom there is to do it for.
    /// - Throws: ``AppleTransferError``, or what the database throws. What was done until then stays done.
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

    /// How far transfers are, a line each.
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
