/// Why another service's event about a user is rejected: one case for each reason on the wire.
public enum EventRefusal: Error, Sendable, Hashable, CaseIterable {
    /// It is no event that there is, or there are too many at once.
    case invalid
    /// The caller's certificate is that of a service that doesn't tell such events.
    case notYours
}
