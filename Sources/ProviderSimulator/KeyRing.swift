import JOSE

/// A provider's signing keys: the newest signs, and all are published.
struct KeyRing: Sendable {
    /// The maximum of published keys; the oldest are dropped first. Apple has been seen to publish three and more.
    static let keysMax = 4

    /// The keys, newest first; never empty.
    private(set) var keys: [SigningKey]

    /// A ring of new keys.
    init(count: Int = 2) throws(KeyError) {
        keys = []
        for _ in 0..<count { keys.append(try .generateRSA2048()) }
    }

    /// A ring of stored keys; nil if there are none or too many.
    init?(keys: [SigningKey]) {
        guard 1...Self.keysMax ~= keys.count else { return nil }
        self.keys = keys
    }

    /// The key that signs.
    var current: SigningKey { keys[0] }

    /// Makes a new key the one that signs. The older ones stay published, so that tokens signed before still verify,
    /// unless they are dropped, as Apple did with all of its keys at once in April 2022.
    mutating func rotate(droppingOld: Bool) throws(KeyError) {
        let new = try SigningKey.generateRSA2048()
        keys = droppingOld ? [new] : [new] + keys.prefix(Self.keysMax - 1)
    }

    /// The published set.
    var published: JSONObject { KeySet(keys).json }
}
