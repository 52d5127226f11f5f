/// The source of accounts: which system exported the file.
public enum ImportSource: String, Sendable, Hashable, CaseIterable {
    /// A table of accounts that were opened with a code sent to a phone.
    case phoneCodes = "phone-codes"
    /// Supabase's `auth.users` and `auth.identities`.
    case supabase
    /// Firebase's `auth:export`, or the list of its Admin SDK.
    case firebase
    /// The users of an Amazon Cognito pool.
    case cognito

    /// How many files an import of this source may have.
    public var filesRange: ClosedRange<Int> { self == .supabase ? 1...2 : 1...1 }
}
