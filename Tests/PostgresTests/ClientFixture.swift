import LocalPostgres
import Postgres
import RPCTransport
import TestDatabases

/// A client over a fresh database, shut down with its loops at the end.
func withClient<R>(
    loopCount: Int = 1,
    bootstrapSQL: String = "",
    cluster: LocalCluster? = nil,
    configure: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: (PostgresClient, TestDatabase) async throws -> R
) async throws -> R {
    try await withClientAndLoops(
        loopCount: loopCount,
        bootstrapSQL: bootstrapSQL,
        cluster: cluster,
        configure: configure
    ) { client, database, _ in try await body(client, database) }
}

/// Likewise, for a test that runs on the client's loops.
func withClientAndLoops<R>(
    loopCount: Int = 1,
    bootstrapSQL: String = "",
    cluster: LocalCluster? = nil,
    configure: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: (PostgresClient, TestDatabase, [EventLoop]) async throws -> R
) async throws -> R {
    if let cluster {
        let database = try TestDatabase.make(in: cluster, number: 1, bootstrapSQL: bootstrapSQL)
        return try await withClientAndLoops(of: database, loopCount: loopCount, configure: configure, body)
    }
    return try await TestDatabase.withFresh(bootstrapSQL: bootstrapSQL) { database in
        try await withClientAndLoops(of: database, loopCount: loopCount, configure: configure, body)
    }
}

private func withClientAndLoops<R>(
    of database: TestDatabase,
    loopCount: Int,
    configure: (inout PostgresConfiguration) -> Void,
    _ body: (PostgresClient, TestDatabase, [EventLoop]) async throws -> R
) async throws -> R {
    var configuration = PostgresConfiguration(database)
    configure(&configuration)
    let group = try EventLoopGroup(loopCount: loopCount, name: "test")
    let client = PostgresClient(configuration, group: group)
    do {
        let result = try await body(client, database, group.loops)
        await client.shutdown()
        await group.shutdown()
        return result
    } catch {
        await client.shutdown()
        await group.shutdown()
        throw error
    }
}

extension TestDatabase {
    /// Deadlocks that the server has broken here, once all sessions have told of theirs, by ending for instance.
    func deadlocks() throws -> Int? {
        let text = try cluster.runSQL(
            "SELECT pg_stat_force_next_flush(); SELECT deadlocks FROM pg_stat_database WHERE datname = '\(database)';"
        )
        return text.split(separator: "\n").last.flatMap { Int($0) }
    }
}

/// Runs the body and gives the error that it throws, nil if it throws none or another kind.
func postgresError<R>(_ body: () async throws -> R) async -> PostgresError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? PostgresError
    }
}

/// Likewise for migrations.
func migrationError<R>(_ body: () async throws -> R) async -> MigrationError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? MigrationError
    }
}
