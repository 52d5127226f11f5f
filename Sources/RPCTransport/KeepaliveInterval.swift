/// How long a client's connection to an address is silent before it asks whether the server is there. A pure value.
struct KeepaliveInterval: Sendable, Hashable {
    /// The longest that it becomes.
    static let longest: Duration = .seconds(2 * 3600)

    /// The time for the next connection; zero for never.
    private(set) var current: Duration

    init(_ configured: Duration) { current = configured }

    /// The server said that it was asked too often: half as often from now on (gRFC A8).
    mutating func double() { current = max(current, min(current * 2, Self.longest)) }
}
