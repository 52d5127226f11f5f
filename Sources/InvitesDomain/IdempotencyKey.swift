import Models

/// What ``IdempotencyKey`` is an id of: an operation that a client wants done once.
public enum IdempotencyTag {}
/// The UUID that a client chose for an operation that is done once, however often the client retries.
public typealias IdempotencyKey = Identifier<IdempotencyTag>

extension IdempotencyKey {
    /// The key of a request; nil if it has none.
    ///
    /// - Throws: ``InvitesError/idempotencyKeyInvalid`` for a text that isn't a UUID.
    public static func parse(_ text: String) throws(InvitesError) -> IdempotencyKey? {
        if text.isEmpty { return nil }
        guard let key = IdempotencyKey(text) else { throw .idempotencyKeyInvalid }
        return key
    }
}
