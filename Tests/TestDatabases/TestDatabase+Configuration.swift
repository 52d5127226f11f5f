import Foundation
import Postgres
import Testing

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
        engine = Self.testEngine
        injectedConflicts = Self.testConflicts
    }

    private static let environment = ProcessInfo.processInfo.environment
    /// What `Tests/Distributed/run.sh` asks for.
    public static let testEngine = environment["VESTIBULE_TEST_ENGINE"].flatMap(PostgresEngine.init) ?? .postgresql
    private static let testConflicts = environment["VESTIBULE_TEST_CONFLICTS"].flatMap(Double.init) ?? 0
}

extension Trait where Self == ConditionTrait {
    /// For a test of the order of locks, or one that has a transaction hold a lock by hand and expects another to wait for it and then to see
    /// what was committed. A distributed database undoes and repeats the other one, and may put it before: only whole transactions of ours,
    /// which read what they decide by, meet so that one is undone.
    public static var waitsByLocksAlone: Self {
        .enabled(
            if: PostgresConfiguration.testEngine == .postgresql,
            "a distributed database decides otherwise who waits"
        )
    }
}

extension Trait where Self == ConditionTrait {
    /// For a test of positions that name PostgreSQL's snapshots, of notifications, or one that expects returning subscribers to get nothing twice.
    public static var readsLogsBySnapshots: Self {
        .enabled(
            if: PostgresConfiguration.testEngine == .postgresql,
            "a distributed database's logs are read by their clock, and repeat the last minute to returning subscribers"
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
