/// Who is at the other end of a connection. One object a connection, shared by its calls.
public final class PeerInfo: Sendable {
    /// The address, such as `127.0.0.1:41234`, or `in-process`.
    public let address: String
    /// Whether the connection is encrypted.
    public let isEncrypted: Bool
    /// The names (DNS and URI subject alternative names) in the certificate that the peer proved to own; empty without one.
    public let certificateNames: [String]

    /// Describes a peer.
    public init(address: String, isEncrypted: Bool = false, certificateNames: [String] = []) {
        self.address = address
        self.isEncrypted = isEncrypted
        self.certificateNames = certificateNames
    }
}
