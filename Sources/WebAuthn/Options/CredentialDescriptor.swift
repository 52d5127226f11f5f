import JOSE

/// A credential as options name it (section 5.8.3).
public struct CredentialDescriptor: Sendable, Hashable {
    /// The id.
    public let id: [UInt8]
    /// ``NewPasskey/transports``.
    public let transports: [String]

    /// A credential.
    public init(id: [UInt8], transports: [String] = []) {
        self.id = id
        self.transports = transports
    }

    /// Adds the members of `PublicKeyCredentialDescriptorJSON`. Without transports the client tries all that it has.
    func addMembers(to writer: inout JSONWriter) {
        writer.add("id", Base64URL.encode(id))
        writer.add("type", "public-key")
        if !transports.isEmpty { writer.add("transports", transports) }
    }
}
