import Foundation

/// Keeps a session, and whom it is locked by.
///
/// A value is written as a whole: a reader, a crash or a loss of power finds the old one or the new one. The lock holds over all
/// processes that share the store, such as an app and its extensions, and is freed when its holder ends, however it does.
/// ``FileStore``, ``KeychainStore`` and ``MemoryStore`` are there; an app can have its own.
public protocol SessionStore: Sendable {
    /// The value of a key; nil if there is none.
    func read(_ key: String) async throws -> Data?

    /// Keeps a value. When this returns, it is kept.
    func write(_ value: Data, _ key: String) async throws

    /// Forgets a value. Succeeds if there is none.
    func remove(_ key: String) async throws

    /// Does `body` while no one else is in the body of this function for the same key, in this process or another.
    ///
    /// - Throws: what `body` throws, an error of the store, or `CancellationError` if the task is cancelled while it waits.
    func withLock<Result: Sendable>(
        _ key: String,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result
}
