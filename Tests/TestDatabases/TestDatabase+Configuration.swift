import Postgres

extension PostgresConfiguration {
    /// How the service's role connects to the database, with the limits of time that a service has by default.
    public init(_ database: TestDatabase) {
        self.init(
            host: database.socketDirectory,
            port: database.port,
            user: database.user,
            password: database.password,
            database: database.database,
            applicationName: "tests",
            searchPath: database.schema
        )
    }
}

extension TestDatabase {
    /// How the service's role connects. Most tests are not of speed, and a machine that does something else must not fail them: nothing
    /// is ended for taking long, but after ten minutes.
    public var configuration: PostgresConfiguration {
        var configuration = PostgresConfiguration(self)
        let limit = Duration.seconds(600)
        (configuration.waitLimit, configuration.queryTimeout, configuration.statementTimeout) = (limit, limit, limit)
        (configuration.lockTimeout, configuration.idleInTransactionTimeout, configuration.connectTimeout) = (
            limit, limit, limit
        )
        return configuration
    }

    /// How the schema's owner connects, with the same limits.
    public var ownerConfiguration: PostgresConfiguration {
        var configuration = configuration
        configuration.user = owner
        return configuration
    }
}
