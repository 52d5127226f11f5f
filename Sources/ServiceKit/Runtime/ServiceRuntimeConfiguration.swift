import Postgres
import RPCTransport

extension ServiceRuntime {
    /// Where and how the service listens.
    var serverConfiguration: ServerConfiguration {
        let address = configuration[keys.listen]
        var server = ServerConfiguration(host: address.host, port: address.port)
        server.limits.drainTimeout = configuration[SharedKeys.drainLimit]
        server.limits.pingIntervalMin = SharedKeys.keepaliveInterval / 2
        server.tls = keys.tls.settings(configuration)
        // A certificate is looked at when a connection begins; so none lives on in one after it has ended.
        if server.tls != nil { server.limits.connectionAgeMax = Self.connectionAgeMax }
        return server
    }

    /// For how long a connection with certificates lives, a tenth more or less.
    static let connectionAgeMax: Duration = .seconds(3600)

    /// What is wrong with the certificates, keys and authorities. Reads their files.
    var tlsFaults: [ConfigurationFault] { keys.tls.faults(configuration) + keys.channels.faults(configuration) }

    /// Whether there is anything that can be read again.
    var usesTLS: Bool { serverConfiguration.tls != nil || keys.channels.settings(configuration).tls != nil }

    /// Tells what everything of the service measures, where that is configured.
    func serveMetrics(_ environment: ServiceEnvironment, _ server: RPCServer) throws -> ServedMetrics {
        environment.metrics.add(CallMetrics(side: .server) { server.calls })
        environment.metrics.add(CallMetrics(side: .client) { [group = environment.group] in group.clientCalls })
        environment.metrics.add(LoopMetrics(group: environment.group, hasServer: true))
        environment.metrics.add(PostgresMetrics(database: environment.database))
        environment.metrics.add(environment.certificates)
        return try ServedMetrics(
            program: keys.program,
            address: configuration[keys.metricsListen],
            registry: environment.metrics,
            logger: environment.logger
        )
    }

    /// Where the database is and as whom.
    func databaseConfiguration(connectionsPerLoop: Int) -> PostgresConfiguration {
        var database = PostgresConfiguration(
            host: configuration[SharedKeys.databaseHost],
            port: configuration[SharedKeys.databasePort],
            user: configuration[keys.databaseUser],
            password: configuration[keys.databasePassword]?.text,
            database: configuration[SharedKeys.databaseName],
            applicationName: "vestibule-\(keys.program)",
            searchPath: configuration[keys.databaseSchema]
        )
        database.connectionsPerLoop = connectionsPerLoop
        database.queryTimeout = configuration[keys.databaseTimeout]
        return database
    }
}
