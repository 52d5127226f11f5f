/// The account that a passkey is made for, as options name it (section 5.4.3).
public struct UserEntity: Sendable, Hashable {
    /// The maximum length of ``id`` in bytes.
    public static let idBytesMax = AuthenticationResponse.userHandleBytesMax

    /// The user handle: bytes that stand for the account, and say nothing about the person (section 14.6.1).
    public let id: [UInt8]
    /// The name that distinguishes the user's accounts, such as an e-mail address.
    public let name: String
    /// The name of the person; may be empty.
    public let displayName: String

    /// An account; nil if the id doesn't have 1 to 64 bytes.
    public init?(id: [UInt8], name: String, displayName: String) {
        guard 1...Self.idBytesMax ~= id.count else { return nil }
        self.id = id
        self.name = name
        self.displayName = displayName
    }
}
