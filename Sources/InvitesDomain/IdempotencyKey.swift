import Models

/// What ``IdempotencyKey`` is an id of: something that a client wants done once.
public enum IdempotencyTag {}
/// The UUID that a client chose for something that it wants done once, however often it has to ask.
public typealias IdempotencyKey = Identifier<IdempotencyTag>

extension IdempotencyKey {
    /// The key that a request names; nil if it names none.
    ///
    /// - Throws: ``InvitesError/idempotencyKeyInvalid`` for a text that is no UUID.
    public static func parse(_ text: String) throws(InvitesError) -> IdempotencyKey? {
        if text.isEmpty { return nil }
        guard let key = IdempotencyKey(text) else { throw .idempotencyKeyInvalid }
        return key
    }
}
