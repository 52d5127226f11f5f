import JOSE

/// The proofs that one process has accepted lately: so that each is accepted once (RFC 9449 section 11.1).
///
/// Only verified proofs get in, so each costs its sender a signature, and us a verification first. The memory is bounded and fails
/// closed: where there is no room, a proof is not accepted. Two bounds keep a client from taking the room of others: each key has a
/// share, and each key has its place in one shard, which nobody outside can predict.
///
/// A client with many keys is left, and keys cost nothing where no token is bound to them. So the URIs that need no bound token have a
/// memory of their own, behind a limit of requests per address: a flood of new keys then takes no room from clients with a session.
/// That is safe as long as the URI alone decides which memory is asked, since a proof is good for one URI.
///
/// Entries aren't expired one by one. A shard has two generations of ``lifetimeSeconds`` each, and forgets the older one when the newer
/// one has ended. Any thread: a call holds one shard's lock for a few look-ups.
public final class SeenProofs: Sendable {
    /// For how long a proof is remembered at least, in seconds; at most twice as long. A proof is good for no longer: by its nonce for
    /// ``DPoPNonces/lifetimeSeconds`` and a window before, or by its `iat` for ``DPoPVerifier/proofSecondsMax`` and the skew.
    public static let lifetimeSeconds: Int64 = 120
    /// The number of shards.
    public static let shardCount = 32
    /// The maximum of proofs in memory, unless the caller sets another. Half of them may come within ``lifetimeSeconds``: 4,369 in a second.
    /// At the most they take some 70 MB, once they are there.
    public static let proofsMaxDefault = 1 << 20
    /// The maximum of proofs of one key within ``lifetimeSeconds``, unless the caller sets another: 8 in a second.
    public static let proofsOfKeyMaxDefault = 1024

    /// What became of a proof. Only ``new`` lets a request pass.
    public enum Insertion: Sendable, Hashable {
        /// The proof was not seen before, and is remembered now.
        case new
        /// The proof was accepted before.
        case seen
        /// This key has used up its share. The client sends too many requests.
        case keyFull
        /// The key's shard is full.
        case full
    }

    private let shards: [Shard]
    /// What the placing of keys is made with, besides the process's seed of `Hasher`, which a debugging setting can make a known one.
    private let secret: [UInt8]
    private let proofsOfKeyMax: Int

    /// An empty memory.
    ///
    /// - Parameters:
    ///   - proofsMax: the maximum of proofs, at least two for each shard.
    ///   - proofsOfKeyMax: the maximum of proofs of one key within ``lifetimeSeconds``.
    public init(proofsMax: Int = proofsMaxDefault, proofsOfKeyMax: Int = proofsOfKeyMaxDefault) {
        precondition(proofsMax >= 2 * Self.shardCount && proofsOfKeyMax > 0)
        let capacity = proofsMax / (2 * Self.shardCount)
        shards = (0..<Self.shardCount).map { _ in Shard(capacity: capacity) }
        secret = SecureRandom.bytes(16)
        self.proofsOfKeyMax = proofsOfKeyMax
    }

    /// Remembers a proof.
    ///
    /// - Parameter monotonicSeconds: the time by the clock of ``DPoPInstant/monotonicSeconds``. A time before an earlier call's counts as
    ///   that one's.
    public func insert(_ proof: DPoPProof, monotonicSeconds: Int64) -> Insertion {
        let key = place(of: proof.thumbprint)
        return shards[key % Self.shardCount].insert(
            proof.fingerprint,
            key: key,
            keyMax: proofsOfKeyMax,
            monotonicSeconds: monotonicSeconds
        )
    }

    /// The number of proofs in memory, those among them that are due to be forgotten. Takes each lock in turn: for metrics.
    public var count: Int { shards.reduce(0) { $0 + $1.count } }

    /// A number for a key, at least 0: two keys may have the same one and would share their share, but nobody can look for such keys.
    private func place(of thumbprint: JWKThumbprint) -> Int {
        var hasher = Hasher()
        hasher.combine(secret)
        hasher.combine(thumbprint)
        return hasher.finalize() & .max
    }
}
