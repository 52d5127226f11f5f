import Postgres
import RPCTransport

extension ServiceRuntime {
    /// Where and how the service listens.
    var serverConfiguration: ServerConfiguration {
        let address = configuration[keys.listen]
        var server = ServerConfiguration(host: address.host, port: address.port)
        server.limits.drainTimeout = configuration[SharedKeys.drainLimit]
        return server
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
