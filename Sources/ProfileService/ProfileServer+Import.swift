import AccountImport
import Logging
import Models
import ServiceModels
import ServiceStore

extension ProfileServer {
    /// Writes what `identity import` hands over of accounts that come in.
    ///
    /// - Parameters:
    ///   - input: the descriptor that it is read from.
    ///   - rejectsPath: the CSV file for rejected rows.
    /// - Throws: `ImportError`, or what the database throws. What was done until then stays done.
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

    /// Where an import goes on that was killed, for `identity import --after`; nil for the beginning.
    ///
    /// - Parameter digest: what `identity import --digest` told, in hexadecimal.
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
