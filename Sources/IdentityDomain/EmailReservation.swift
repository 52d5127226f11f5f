/// An e-mail address that no two accounts of a dialect may have. It is no key to any account.
public struct EmailReservation: Sendable, Hashable {
    /// The most bytes of a dialect's name.
    public static let dialectBytesMax = 32

    /// The dialect.
    public let dialect: String
    /// The address in lower case, as it is compared.
    public let email: String
    /// Whether the credentials that ask for it carry the address as the provider verified it. Such a reservation takes the place of
    /// one that nobody proved.
    public private(set) var isVerified = false

    /// An address to reserve.
    ///
    /// - Throws: `emailInvalid` if it is none, or the dialect has no name.
    public init(dialect: String, email: String) throws(IdentityError) {
        // Lower case may be longer than what was written.
        guard 1...Self.dialectBytesMax ~= dialect.utf8.count, let email = EmailAddress.accept(email.lowercased()) else {
            throw .signIn(.emailInvalid)
        }
        self.dialect = dialect
        self.email = email
    }

    private static let memberSuffix = "_email"

    /// The member of an account's metadata in which the gateway keeps the address of a dialect.
    public var metadataMember: String { dialect + Self.memberSuffix }

    /// The address that a member of an account's metadata would keep; nil for any other member.
    init?(member: String, text: String) {
        guard member.hasSuffix(Self.memberSuffix) else { return nil }
        let dialect = String(member.dropLast(Self.memberSuffix.count))
        guard let kept = try? EmailReservation(dialect: dialect, email: text) else { return nil }
        self = kept
    }

    /// The reservation as credentials prove it: verified if they carry the same address and the provider verified that.
    public func proven(by claims: ProviderClaims) -> EmailReservation {
        var proven = self
        proven.isVerified = claims.isEmailVerified && claims.email?.lowercased() == email
        return proven
    }
}
