/// Where a service is called: one address or several, each a replica or a name that stands for replicas.
public struct AddressList: Hashable, Sendable, CustomStringConvertible {
    /// The addresses, in order.
    public let addresses: [HostPort]

    /// Addresses, at least one and at most 64 (the transport's maximum).
    static let countMax = 64

    /// Reads addresses with commas between; nil if one is none, or there are too many.
    public init?(_ text: String) {
        var addresses: [HostPort] = []
        for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard addresses.count < Self.countMax, let address = HostPort(String(piece.trimmingSpaces)) else {
                return nil
            }
            addresses.append(address)
        }
        self.addresses = addresses
    }

    /// The addresses with commas between, as a channel's target is written.
    public var description: String { addresses.map(\.description).joined(separator: ",") }
}
