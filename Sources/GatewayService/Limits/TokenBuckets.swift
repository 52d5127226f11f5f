/// A token bucket for each key, in memory that never grows. A value without a clock: the caller passes the time.
///
/// Nothing is ever forgotten, so nobody can make the table forget him: a key's bucket is not looked up but shared. Two
/// rows of slots are indexed by different bits of the key's hash, whose seed no stranger knows. A key is let in if
/// either of its two slots lets it in, and is charged in both. So a key never gets more than a bucket of its own would
/// give it, and gets less only where both of its slots are shared with others who use theirs up: with 1,000 such keys
/// and 65,536 slots a row that happens to 1 key in 4,300.
///
/// A slot is one number: the moment at which its bucket will be full again (the "theoretical arrival time" of the generic
/// cell rate algorithm, ITU-T I.371), which says the same as a count of tokens and the time it was taken.
///
/// A slot that was never used is zero, which is a full bucket at any moment. Slots become resident a page at a time, as keys
/// come that use them.
struct TokenBuckets<Key: Hashable & Sendable>: ~Copyable, Sendable {
    private let intervalNanoseconds: UInt64
    private let depthNanoseconds: UInt64
    private let mask: UInt64
    /// So that slots can't be computed even where hashing was made repeatable for a debugging session.
    private let salt = UInt64.random(in: .min ... .max)
    private var first: SlotMemory
    private var second: SlotMemory

    /// Buckets.
    ///
    /// - Parameters:
    ///   - rate: tokens that flow into each bucket, and how many it holds.
    ///   - slotsPerRow: slots in each of the two rows, eight bytes each; a power of two.
    init(_ rate: RequestRate, slotsPerRow: Int) {
        precondition(slotsPerRow > 0 && slotsPerRow & (slotsPerRow - 1) == 0, "the hash is masked")
        intervalNanoseconds = UInt64(max(1, 1e9 / rate.perSecond))
        // A burst below one would let nobody in.
        depthNanoseconds = UInt64(max(1, rate.burst) * Double(intervalNanoseconds))
        mask = UInt64(slotsPerRow - 1)
        first = SlotMemory(zeros: slotsPerRow)
        second = SlotMemory(zeros: slotsPerRow)
    }

    /// Takes a token; nil if there was one, else how long until there is.
    mutating func take(_ key: Key, nowNanoseconds now: UInt64) -> Duration? {
        var hasher = Hasher()
        hasher.combine(salt)
        hasher.combine(key)
        let hash = UInt64(bitPattern: Int64(hasher.finalize()))
        let (a, b) = (Int(hash & mask), Int(hash >> 32 & mask))
        let fullAt = min(first[a], second[b])
        let limit = now + depthNanoseconds - intervalNanoseconds
        guard fullAt <= limit else { return .nanoseconds(Int64(clamping: fullAt - limit)) }
        first[a] = charged(first[a], now)
        second[b] = charged(second[b], now)
        return nil
    }

    /// A slot after a token was taken; one that others emptied owes no more than its depth.
    private func charged(_ slot: UInt64, _ now: UInt64) -> UInt64 {
        min(max(slot, now) + intervalNanoseconds, now + depthNanoseconds)
    }
}

/// How much a bucket lets through.
struct RequestRate: Sendable, Hashable {
    /// Requests per second on end.
    var perSecond: Double
    /// Requests at once.
    var burst: Double
}
