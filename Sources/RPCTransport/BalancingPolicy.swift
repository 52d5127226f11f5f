/// How a channel spreads its calls over the addresses of its target.
public enum BalancingPolicy: Sendable, Hashable {
    /// All calls go to the first address that can be connected to; to another only once that is lost.
    case pickFirst
    /// Calls go to one address after the other, of those that can be connected to.
    case roundRobin
}
