import Postgres
import ServiceKit

extension ServiceRuntime {
    /// What is wrong with what the configuration of the service names, besides what all programs have: the keys with each
    /// other, certificates, the limit of open files, and the database.
    ///
    /// - Parameter rows: examines what the service's tables have, if they can be used. Its failure is no finding.
    public func examine(
        rows: @escaping @Sendable (PostgresClient) async throws -> [Finding] = { _ in [] },
        report: (Finding) -> Void
    ) async {
        let faults = faults
        for fault in faults { report(Finding(fault)) }
        if let warning = Exposure(keys: keys, configuration: configuration).finding { report(warning) }
        if faults.isEmpty {
            let chain = keys.tls.findings(configuration, authorities: SharedKeys.servicesAuthorities)
            for finding in chain + keys.channels.findings(configuration) { report(finding) }
        }
        let limit = serverConfiguration.fileLimitFinding(
            SharedKeys.connections.name,
            loopCount: SharedKeys.loopCount(configuration)
        )
        if let limit { report(limit) }
        let examination = DatabaseExamination(
            keys: keys,
            configuration: configuration,
            schema: schemaCheck,
            rows: rows
        )
        let owner = configuration[keys.databaseOwner] == nil ? nil : migrationConfiguration
        for finding in await examination.findings(databaseConfiguration(connectionsPerLoop: 1), owner: owner) {
            report(finding)
        }
    }
}
