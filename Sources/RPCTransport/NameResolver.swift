/// Finds the addresses of a host; a channel's configuration names one.
public protocol NameResolver: Sendable {
    /// The host's IP addresses, in the order of preference. Empty if it has none now, or if they cannot be found. Not called
    /// for a host that is an IP address itself. Any thread.
    func addresses(of host: String) async -> [String]
}
