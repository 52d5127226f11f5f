import CLibPQ
import Glibc
import LocalPostgres
import RPCTransport
import TestDatabases
import Testing

@testable import Postgres

/// While a process starts a child, the child has copies of its descriptors: a socket that libpq closes stays open for a moment,
/// and epoll keeps reporting it.
struct SocketCopyTests {
    private static func backend(_ client: PostgresClient) async throws -> Int32 {
        try await client.query("SELECT pg_backend_pid()")[0].decode(0, as: Int32.self)
    }

    @Test func `A copy of a broken connection's socket does no harm`() async throws {
        try await withClientAndLoops(configure: { $0.connectionsPerLoop = 1 }) { client, database, loops in
            for _ in 0..<20 {
                let pid = try await Self.backend(client)
                let pool = client.pools[0]
                let copy = try await loops[0].run {
                    dup(PQsocket(pool.value.connections.compactMap { $0?.handle }.first))
                }
                #expect(copy >= 0)
                try database.cluster.runSQL("SELECT pg_terminate_backend(\(pid));")
                // Handling an event of the old socket would use freed memory, which may be in use again.
                while try await Self.backend(client) == pid {}
                for _ in 0..<20 { try await client.ping() }
                close(copy)
            }
        }
    }
}
