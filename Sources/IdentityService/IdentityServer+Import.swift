import AccountImport
import IdentityDomain
import JOSE
import Logging
import Models
import RPC
import ServiceKit
import ServiceStore

extension IdentityServer {
    /// Imports the accounts of another backend.
    ///
    /// - Parameters:
    ///   - output: the descriptor that `profile import` reads.
    ///   - tell: called with the progress.
    /// - Throws: `ImportError`, or the database's errors. Accounts imported until then stay.
    public func importAccounts(
        _ order: ImportOrder,
        to output: Int32,
        _ tell: (ImportProgress) -> Void
    ) async throws -> ImportProgress {
        let names = ProviderNames(
            order.plan.providers,
            configured: Set(settings.providers.keys.map(\.value))
        )
        return try await runtime.withDatabase(timeout: IdentityStore.importStatementLimit) { database in
            let importer = AccountImporter(
                store: IdentityStore(database: database, limits: settings.limits),
                order: order,
                names: names,
                policy: settings.phonePolicy,
                clock: .system
            )
            let outcome = try await importer.run(to: output, tell)
            Logger(label: Self.programName).notice(
                "accounts imported",
                metadata: [
                    "source": "\(order.plan.sourceName)", "rows": "\(outcome.rows)", "made": "\(outcome.made)",
                    "there": "\(outcome.there)", "unreachable": "\(outcome.unreachable)",
                    "rejected": "\(outcome.rejectedRows)", "dry": "\(order.isDry)",
                ]
            )
            return outcome
        }
    }

    /// The digest by which a resumed import recognizes its input, in hexadecimal.
    public func importDigest(_ order: ImportOrder) throws -> String {
        let files = try order.files.map { path throws(ImportError) in try FileInput(path) }
        return Hex.encode(try AccountReader.digest(order.plan, files))
    }
}
