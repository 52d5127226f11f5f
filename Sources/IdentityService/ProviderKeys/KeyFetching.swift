import JOSE

/// A key set as a provider gave it.
struct FetchedKeys: Sendable {
    /// The keys.
    let keySet: KeySet
    /// What `Cache-Control` said; nil if nothing.
    let maxAgeSeconds: Int64?

    /// A fetched key set.
    init(keySet: KeySet, maxAgeSeconds: Int64?) {
        self.keySet = keySet
        self.maxAgeSeconds = maxAgeSeconds
    }
}

/// Where key sets come from: HTTP, or whatever a test says.
protocol KeyFetching: Sendable {
    /// Fetches the key set at a URL; bounded in time and size by itself.
    func fetchKeys(from url: String) async throws -> FetchedKeys
}
