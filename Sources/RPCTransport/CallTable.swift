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
        count(row: row, code, tookNanoseconds: Deadline.now().nanoseconds &- beganNanoseconds)
    }

    /// The same for one that took so long.
    func count(row: Int, _ code: Status.Code, tookNanoseconds: UInt64) {
        crpc_call_table_count(handle, UInt32(row), Int32(code.rawValue), tookNanoseconds)
    }

    /// A row. Any thread.
    func read(row: Int, method: String) -> CallStatistics {
        var raw = crpc_call_stats()
        crpc_call_table_read(handle, UInt32(row), &raw)
        return CallStatistics(method: method, raw)
    }
}

/// Counts the calls of one listener, whatever their protocol: a row for each of its methods, and a last one for all else.
final class CallCounter: Sendable {
    let table: CallTable
    /// The row of a method by its ordinal; -1 where there is none.
    private let rows: [Int]
    private let others: Int

    /// Throws `TransportError.memory`.
    init(_ methods: [MethodDescriptor]) throws {
        table = try CallTable(rowCount: methods.count + 1)
        others = methods.count
        var rows = [Int](repeating: -1, count: MethodOrdinals.max)
        for (row, method) in methods.enumerated() where method.ordinal != 0 { rows[method.ordinal] = row }
        self.rows = rows
    }

    /// Methods without an ordinal of their own count as others.
    func row(of method: MethodDescriptor?) -> Int {
        guard let method, rows[method.ordinal] >= 0 else { return others }
        return rows[method.ordinal]
    }

    /// Counts a call that has ended. One thread at a time.
    func count(row: Int, _ code: Status.Code, tookNanoseconds: UInt64) {
        table.count(row: row, code, tookNanoseconds: tookNanoseconds)
    }
}
