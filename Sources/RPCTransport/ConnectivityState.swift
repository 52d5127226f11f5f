/// What a channel, or its part for one address, can do now (gRPC connectivity semantics).
enum ConnectivityState: Sendable, Hashable {
    /// Nothing is tried; the next call begins to connect.
    case idle
    /// A connection is being made.
    case connecting
    /// A connection takes calls.
    case ready
    /// The last try failed; the next one follows after a wait.
    case transientFailure
    /// Over.
    case shutdown
}
