import Postgres
import RPCTransport

extension ServiceRuntime {
    func databaseConfiguration(connectionsPerLoop: Int) -> PostgresConfiguration { PostgresConfiguration() }
    func serverConfiguration(_ address: HostPort) -> ServerConfiguration { ServerConfiguration() }
    func migrate(_ database: PostgresClient) async throws {}
}
