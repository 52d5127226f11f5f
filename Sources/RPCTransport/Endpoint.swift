/// One address that a channel may connect to.
struct Endpoint: Sendable, Hashable {
    /// IPv4 or IPv6, in digits.
    let address: String
    /// The part of the target that it belongs to.
    let target: ChannelTarget.Part
}
