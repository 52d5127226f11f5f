import AccountImport
import Logging
import Models
import ServiceModels
import ServiceStore

extension ProfileServer {
    /// Writes the imported accounts that `identity import` sends.
    ///
    /// - Parameters:
    ///   - input: the descriptor to read from.
    ///   - rejectsPath: the CSV file for rejected rows.
    /// - Throws: `ImportError`, or the database's error. What was written until then stays.
    public func importProfiles(from input: Int32, rejectsPath: String) async throws -> ProfileImportOutcome {
        try await runtime.withDatabase(timeout: ProfileStore.importStatementLimit) { database in
            let store = ProfileStore(
                database: database,
                identifiers: IdentifierSource(clock: .system),
                limits: settings.limits,
                required: settings.requiredFields
            )
            let outcome = try await ProfileImporter(store: store, clock: .system).run(
                from: input,
                rejectsPath: rejectsPath
            )
            Logger(label: Self.programName).notice(
                "profiles imported",
                metadata: [
                    "applied": "\(outcome.applied)", "there": "\(outcome.there)", "rejections": "\(outcome.rejections)",
                    "dry": "\(outcome.isDry)",
                ]
            )
            return outcome
        }
    }

    /// Where a killed import continues, for `identity import --after`; nil for the beginning.
    ///
    /// - Parameter digest: the output of `identity import --digest`, in hexadecimal.
    public func importPosition(of digest: [UInt8]) async throws -> String? {
        try await runtime.withDatabase { database in
            let store = ProfileStore(
                database: database,
                identifiers: IdentifierSource(clock: .system),
                limits: settings.limits,
                required: settings.requiredFields
            )
            return try await store.importPosition(of: digest)?.description
        }
    }
}
