import Logging
import Postgres
import RPCTransport
import ServiceKit

extension ServiceRuntime {
    /// Where and how the service listens.
    var serverConfiguration: ServerConfiguration {
        let address = configuration[keys.listen]
        var server = ServerConfiguration(host: address.host, port: address.port)
        server.heldBytesMax = configuration[SharedKeys.heldBytesMax]
        server.connectionsMax = configuration[SharedKeys.connections]
        server.connectionsPerAddressMax = configuration[SharedKeys.connectionsPerAddress]
        server.limits.idleTimeout = configuration[SharedKeys.idleLimit]
        server.limits.drainTimeout = configuration[SharedKeys.drainLimit]
        server.limits.pingIntervalMin = SharedKeys.keepaliveInterval / 2
        server.tls = keys.tls.settings(configuration)
        let asksForCertificates = configuration[keys.tls.clientAuthorities] != nil
        server.serverNames = keys.port.names(configuration, asksForCertificates: asksForCertificates)
        // A certificate is looked at when a connection begins; so none lives on in one after it has ended.
        if server.tls != nil { server.limits.connectionAgeMax = Self.connectionAgeMax }
        return server
    }

    /// For how long a connection with certificates lives, a tenth more or less.
    static let connectionAgeMax: Duration = .seconds(3600)

    /// What keeps the service from serving, though each key has a valid value. Reads the files of certificates.
    public var faults: [ConfigurationError] {
        Exposure(keys: keys, configuration: configuration).faults + keys.port.faults(configuration) + tlsFaults
            + TraceKeys.faults(configuration) + configuration.databasePoolerFaults
            + (configuration[keys.migrate] ? configuration.databaseSessionFaults : [])
    }

    /// What is wrong with the certificates, keys and authorities. Reads their files.
    var tlsFaults: [ConfigurationError] {
        keys.tls.faults(configuration) + keys.channels.faults(configuration) + configuration.databaseTLSFaults
    }

    /// Whether there is anything that can be read again.
    var usesTLS: Bool { serverConfiguration.tls != nil || keys.channels.settings(configuration).tls != nil }

    /// Tells what everything of the service measures, where that is configured.
    func serveMetrics(_ environment: ServiceEnvironment, _ server: RPCServer) throws -> ServedMetrics {
        environment.metrics.add(CallMetrics(side: .server) { server.calls })
        environment.metrics.addLoops(of: environment.group, hasServer: true)
        environment.metrics.add(PostgresMetrics(database: environment.database))
        environment.metrics.add(environment.certificates)
        return try ServedMetrics(
            program: keys.program,
            address: configuration[keys.metricsListen],
            registry: environment.metrics,
            logger: environment.logger
        )
    }

    /// Where the database is, and who owns the schema.
    var migrationConfiguration: PostgresConfiguration {
        guard let owner = configuration[keys.databaseOwner] else { return databaseConfiguration(connectionsPerLoop: 1) }
        return databaseConfiguration(
            user: owner,
            password: configuration[keys.databaseOwnerPassword],
            settings: DatabaseSettings(ownerOf: keys),
            connectionsPerLoop: 1
        )
    }

    /// Where the database is and as whom.
    func databaseConfiguration(connectionsPerLoop: Int) -> PostgresConfiguration {
        databaseConfiguration(
            user: configuration[keys.databaseUser],
            password: configuration[keys.databasePassword],
            settings: DatabaseSettings(keys),
            connectionsPerLoop: connectionsPerLoop
        )
    }

    private func databaseConfiguration(
        user: String,
        password: Secret?,
        settings: DatabaseSettings,
        connectionsPerLoop: Int
    ) -> PostgresConfiguration {
        var database = configuration.postgres(
            user: user,
            password: password?.text,
            database: configuration[SharedKeys.databaseName],
            applicationName: "vestibule-\(keys.program)",
            settings: settings
        )
        database.searchPath = configuration[keys.databaseSchema]
        database.connectionsPerLoop = connectionsPerLoop
        database.queryTimeout = configuration[keys.databaseTimeout]
        database.lockTimeout = configuration[keys.databaseLockTimeout]
        let logger = Logger(label: keys.program)
        database.onConnectionFailure = { reason in
            logger.warning("a database connection was lost or could not be made", metadata: ["reason": .string(reason)])
        }
        return database
    }
}
