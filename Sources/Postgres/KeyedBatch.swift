import RPC

/// Callers whose keys travel as one statement. Loop's thread only.
final class KeyedBatch {
    /// Keys of one statement at most. More would cost the server a little less and everybody time: it answers the first
    /// when it has found the last, and has nothing to do while we work on its answers.
    static let keysMax = 32

    typealias Answer = Result<Row?, PostgresError>

    private struct Caller {
        let key: ReadKey
        let deadline: Deadline
        /// Nil once answered. Unsafe continuations, as in `StatementRequest`: only `answer` resumes, and takes it away.
        var continuation: UnsafeContinuation<Answer, Never>?
    }

    let read: KeyedRead
    private var callers: [Caller] = []
    /// The last that ends, which is the statement's.
    private(set) var lastDeadline: Deadline

    /// A batch with its first caller still to come.
    init(_ read: KeyedRead, deadline: Deadline) {
        self.read = read
        lastDeadline = deadline
        callers.reserveCapacity(8)
    }

    var isFull: Bool { callers.count == Self.keysMax }

    func append(_ key: ReadKey, deadline: Deadline, _ continuation: UnsafeContinuation<Answer, Never>) {
        precondition(key.type == read.keyType && !isFull, "a key of another type, or one too many")
        callers.append(Caller(key: key, deadline: deadline, continuation: continuation))
        lastDeadline = max(lastDeadline, deadline)
    }

    /// The statement: its parameter is an array of one dimension (see `ArrayForm`).
    var query: Query {
        var bytes: [UInt8] = []
        let keyBytes = callers.count * (4 + callers[0].key.byteCount)
        bytes.reserveCapacity(28 + keyBytes)
        bytes.append(bigEndian: read.keyType.array.rawValue)
        bytes.append(bigEndian: Int32(20 + keyBytes))
        for number in [1, 0, Int32(bitPattern: read.keyType.rawValue), Int32(callers.count), 1] {
            bytes.append(bigEndian: number)
        }
        for caller in callers {
            bytes.append(bigEndian: Int32(caller.key.byteCount))
            caller.key.append(to: &bytes)
        }
        return Query(text: read.text, hash: read.hash, parameters: bytes, parameterCount: 1)
    }

    /// Answers everyone who has no answer yet.
    func finish(_ result: Result<Rows, PostgresError>) {
        switch result {
        case .success(let rows): match(rows)
        case .failure(let error): for place in callers.indices { answer(place, .failure(error)) }
        }
    }

    /// Answers those whose deadline has passed or whose task was cancelled.
    func giveUp(_ now: Deadline) {
        for place in callers.indices {
            guard let continuation = callers[place].continuation else { continue }
            if callers[place].deadline < now {
                answer(place, .failure(.timeout(outcomeUnknown: false)))
            } else if continuation.isTaskCancelled {
                answer(place, .failure(.cancelled(outcomeUnknown: false)))
            }
        }
    }

    /// Rows come in the order of the keys, as the server happens to do it; one in another place is looked for. Keys
    /// without a row have none.
    private func match(_ rows: Rows) {
        var next = 0
        for row in rows {
            let key = row.storage.cell(row: row.index, column: row.storage.columnCount - 1)
            let place = (next..<callers.count).first { callers[$0].key.equals(key) } ?? firstUnanswered(key)
            guard let place else { continue }
            answer(place, .success(row))
            next = place + 1
        }
        for place in callers.indices { answer(place, .success(nil)) }
    }

    private func firstUnanswered(_ key: PostgresCell) -> Int? {
        callers.indices.first { callers[$0].continuation != nil && callers[$0].key.equals(key) }
    }

    private func answer(_ place: Int, _ answer: Answer) {
        guard let continuation = callers[place].continuation else { return }
        callers[place].continuation = nil
        continuation.resume(returning: answer)
    }
}
