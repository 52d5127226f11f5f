import RPC

/// A loop's reads by key: gathered during a turn, then under way. Loop's thread only.
struct KeyedReads {
    /// One for each kind of read that this turn asked for, and those that are full.
    private(set) var gathering: [KeyedBatch] = []
    private var underWay: [KeyedBatch] = []

    mutating func append(
        _ read: KeyedRead,
        _ key: ReadKey,
        deadline: Deadline,
        _ continuation: UnsafeContinuation<KeyedBatch.Answer, Never>
    ) {
        if let batch = gathering.last(where: { $0.read.hash == read.hash && $0.read.text == read.text }), !batch.isFull
        {
            return batch.append(key, deadline: deadline, continuation)
        }
        let batch = KeyedBatch(read, deadline: deadline)
        batch.append(key, deadline: deadline, continuation)
        gathering.append(batch)
    }

    /// The turn's batches, which are under way from now on.
    mutating func depart() -> [KeyedBatch] {
        underWay += gathering
        defer { gathering.removeAll(keepingCapacity: true) }
        return gathering
    }

    mutating func ended(_ batch: KeyedBatch) { underWay.removeAll { $0 === batch } }

    func giveUp(_ now: Deadline) {
        for batch in underWay { batch.giveUp(now) }
    }
}
