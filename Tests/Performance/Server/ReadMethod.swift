import Postgres
import RPC
import RPCTransport
import SwiftProtobuf
import Synchronization

/// Answers with the balance of one of pgbench's accounts, read by its primary key: what `pgbench -S` does in one
/// transaction. The request names the account, or 0 for any one of them.
final class ReadMethod: Sendable {
    private let client: PostgresClient
    private let rowCount: Int32
    private let calls = Atomic<UInt64>(0)
    private let balance = KeyedRead("abalance", from: "pgbench_accounts", key: "aid", keyType: .int32)

    init(socketFolder: String, database: String, rowCount: Int32, group: EventLoopGroup) {
        let configuration = PostgresConfiguration(host: socketFolder, user: "postgres", database: database)
        client = PostgresClient(configuration, group: group)
        self.rowCount = rowCount
    }

    func register(in router: inout Router) {
        let method = MethodDescriptor(service: BenchServer.service, method: "Read", isIdempotent: true)
        router.unary(method) { (request: Google_Protobuf_Int32Value, context) async throws in
            let account = request.value == 0 ? self.anyAccount() : request.value
            let row = try await self.client.row(self.balance, key: ReadKey(account), deadline: context.deadline)
            guard let row else { throw RPCError(.notFound, "no account \(account)") }
            return Google_Protobuf_Int32Value(try row.decode(0, as: Int32.self))
        }
    }

    /// Account numbers spread evenly, by the finalizer of SplitMix64 over a counter.
    private func anyAccount() -> Int32 {
        var mixed = calls.wrappingAdd(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Int32(truncatingIfNeeded: mixed.multipliedFullWidth(by: UInt64(rowCount)).high) + 1
    }
}
