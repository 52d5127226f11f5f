/// A token bucket for each key, in bounded memory. A value without a clock: the caller passes the time.
///
/// Buckets are kept in two generations: a full younger one becomes the older, whose untouched buckets are then dropped.
/// A dropped bucket starts full again, so forgetting errs toward letting someone in.
struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
    private struct Bucket {
        var tokens: Double
        var updatedNanoseconds: UInt64
    }

    private let perSecond: Double
    private let burst: Double
    private let generationMax: Int
    private var young: [Key: Bucket] = [:]
    private var old: [Key: Bucket] = [:]

    /// Buckets.
    ///
    /// - Parameters:
    ///   - perSecond: tokens that flow into each bucket.
    ///   - burst: how many a bucket holds.
    ///   - keysMax: how many buckets are kept at most.
    init(perSecond: Double, burst: Double, keysMax: Int) {
        precondition(perSecond > 0 && burst >= 1 && keysMax >= 2, "a bucket must let somebody in")
        self.perSecond = perSecond
        self.burst = burst
        generationMax = keysMax / 2
    }

    /// How many buckets are kept now.
    var count: Int { young.count + old.count }

    /// Takes a token; nil if there was one, else how long until there is.
    mutating func take(_ key: Key, nowNanoseconds: UInt64) -> Duration? {
        var bucket =
            young[key] ?? old.removeValue(forKey: key) ?? Bucket(tokens: burst, updatedNanoseconds: nowNanoseconds)
        let elapsed = nowNanoseconds > bucket.updatedNanoseconds ? nowNanoseconds - bucket.updatedNanoseconds : 0
        bucket.tokens = min(burst, bucket.tokens + Double(elapsed) / 1e9 * perSecond)
        bucket.updatedNanoseconds = nowNanoseconds
        let isAdmitted = bucket.tokens >= 1
        if isAdmitted { bucket.tokens -= 1 }
        if young.count >= generationMax, young[key] == nil {
            old = young
            young.removeAll(keepingCapacity: true)
        }
        young[key] = bucket
        return isAdmitted ? nil : .seconds((1 - bucket.tokens) / perSecond)
    }
}
