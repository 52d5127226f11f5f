import CRPC
import RPC

/// Counts the calls of one loop by method. Counting costs a few nanoseconds and is for one thread; reading is for any.
final class CallTable: @unchecked Sendable {
    // Sound because the handle is a constant, one thread counts, and what it writes is read atomically.
    let handle: OpaquePointer

    /// A table of that many rows. Throws `TransportError.memory`.
    init(rowCount: Int) throws {
        var handle: OpaquePointer?
        try TransportError.check(crpc_call_table_new(UInt32(clamping: rowCount), &handle))
        guard let handle else { throw TransportError.memory }
        self.handle = handle
    }

    deinit { crpc_call_table_free(handle) }

    /// Counts a call that has ended. One thread at a time.
    func count(row: Int, _ code: Status.Code, since beganNanoseconds: UInt64) {
        let took = Deadline.now().nanoseconds &- beganNanoseconds
        crpc_call_table_count(handle, UInt32(row), Int32(code.rawValue), took)
    }

    /// A row. Any thread.
    func read(row: Int, method: String) -> CallStatistics {
        var raw = crpc_call_stats()
        crpc_call_table_read(handle, UInt32(row), &raw)
        return CallStatistics(method: method, raw)
    }
}
