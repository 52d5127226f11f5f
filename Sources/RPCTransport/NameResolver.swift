/// Finds the addresses of a host; a channel's configuration names one.
public protocol NameResolver: Sendable {
    /// The host's addresses in digits, in the order of preference; empty if it has none now or nobody can tell. Not
    /// called for hosts that are addresses in digits. Any thread.
    func addresses(of host: String) async -> [String]
}
