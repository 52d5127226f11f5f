import JOSE

/// A key set as a provider gave it.
public struct FetchedKeys: Sendable {
    /// The keys.
    public let keySet: KeySet
    /// What `Cache-Control` said; nil if nothing.
    public let maxAgeSeconds: Int64?

    /// A fetched key set.
    public init(keySet: KeySet, maxAgeSeconds: Int64?) {
        self.keySet = keySet
        self.maxAgeSeconds = maxAgeSeconds
    }
}

/// Where key sets come from: HTTP, or whatever a test says.
public protocol KeyFetching: Sendable {
    /// Fetches the key set at a URL; bounded in time and size by itself.
    func fetchKeys(from url: String) async throws -> FetchedKeys
}
