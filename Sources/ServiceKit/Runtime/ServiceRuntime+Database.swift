import Postgres
import RPCTransport

extension ServiceRuntime {
    /// Calls the closure with the service's database, as its role, while nothing is served: for an operator's command.
    ///
    /// - Parameter timeout: how long a statement may take, in place of the configured time.
    public func withDatabase<Outcome>(
        timeout: Duration,
        _ body: (PostgresClient) async throws -> Outcome
    ) async throws -> Outcome {
        let group = try EventLoopGroup(loopCount: 1, name: keys.program)
        var configuration = databaseConfiguration(connectionsPerLoop: 1)
        configuration.queryTimeout = timeout
        configuration.statementTimeout = timeout
        let database = PostgresClient(configuration, group: group)
        let result: Swift.Result<Outcome, any Error>
        do { result = .success(try await body(database)) } catch { result = .failure(error) }
        await database.shutdown()
        await group.shutdown()
        return try result.get()
    }
}
