/// Why metrics cannot be served.
public struct MetricsListenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where they were to be served.
    public let address: HostPort
    /// The reason, in the system's words.
    public let reason: String

    /// The address and the reason.
    public var description: String { "metrics cannot be served on \(address): \(reason)" }
}
