import JOSE

/// A key set from a provider.
struct FetchedKeys: Sendable {
    /// The keys.
    let keySet: KeySet
    /// The `max-age` of `Cache-Control`; nil without one.
    let maxAgeSeconds: Int64?

    /// A fetched key set.
    init(keySet: KeySet, maxAgeSeconds: Int64?) {
        self.keySet = keySet
        self.maxAgeSeconds = maxAgeSeconds
    }
}

/// The source of key sets: HTTP, or a test's.
protocol KeyFetching: Sendable {
    /// Fetches the key set at a URL; bounded in time and size by itself.
    func fetchKeys(from url: String) async throws -> FetchedKeys
}
