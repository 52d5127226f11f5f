/// How a channel spreads its calls over the addresses of its target.
public enum BalancingPolicy: Sendable, Hashable {
    /// All calls go to the first address that can be connected to. Another one is used only when that connection is lost.
    case pickFirst
    /// Calls go to the connected addresses in turn.
    case roundRobin
}
