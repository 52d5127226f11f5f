import Synchronization

extension SeenProofs {
    /// The proofs of some keys. Any thread.
    final class Shard: Sendable {
        private let capacity: Int
        private let generations = Mutex(Generations())

        /// - Parameter capacity: the maximum of proofs in one generation.
        init(capacity: Int) { self.capacity = capacity }

        func insert(
            _ fingerprint: ProofFingerprint,
            key: Int,
            keyMax: Int,
            monotonicSeconds: Int64
        ) -> Insertion {
            // What is forgotten is freed after the lock.
            let (insertion, _) = generations.withLock { generations in
                let forgotten = generations.advance(to: monotonicSeconds)
                return (generations.insert(fingerprint, key: key, keyMax: keyMax, capacity: capacity), forgotten)
            }
            return insertion
        }

        var count: Int { generations.withLock { $0.newer.proofs.count + $0.older.proofs.count } }
    }

    /// The proofs of one span of time.
    private struct Generation: Sendable {
        var proofs: Set<ProofFingerprint>
        /// How many of them each key has.
        var countsByKey: [Int: Int]

        /// An empty one with room for as many as the last one had: a set that grows is copied under the lock.
        init(after last: Generation? = nil) {
            proofs = Set(minimumCapacity: last?.proofs.count ?? 0)
            countsByKey = Dictionary(minimumCapacity: last?.countsByKey.count ?? 0)
        }
    }

    /// The last two spans. A proof of the newer one stays until the span after it has ended: for a lifetime at least.
    private struct Generations: Sendable {
        var newer = Generation()
        var older = Generation()
        /// When the newer one began; nil before the first proof.
        private var startSeconds: Int64?

        /// Begins another span if the newer one has ended. Returns what is forgotten by that.
        mutating func advance(to seconds: Int64) -> [Generation] {
            guard let start = startSeconds else {
                startSeconds = seconds
                return []
            }
            // Exact where the time is later, even if 64 bits hold the difference only without a sign.
            let elapsed = UInt64(bitPattern: seconds &- start)
            let lifetime = UInt64(lifetimeSeconds)
            guard seconds > start, elapsed >= lifetime else { return [] }
            let isLapsed = elapsed >= 2 * lifetime
            let forgotten = isLapsed ? [older, newer] : [older]
            older = isLapsed ? Generation() : newer
            newer = Generation(after: older)
            startSeconds = seconds
            return forgotten
        }

        mutating func insert(_ fingerprint: ProofFingerprint, key: Int, keyMax: Int, capacity: Int) -> Insertion {
            guard !newer.proofs.contains(fingerprint), !older.proofs.contains(fingerprint) else { return .seen }
            guard newer.countsByKey[key, default: 0] < keyMax else { return .keyFull }
            guard newer.proofs.count < capacity else { return .full }
            newer.proofs.insert(fingerprint)
            newer.countsByKey[key, default: 0] += 1
            return .new
        }
    }
}
