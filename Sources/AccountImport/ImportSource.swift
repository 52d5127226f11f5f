/// Where accounts come from: whose export a file is.
public enum ImportSource: String, Sendable, Hashable, CaseIterable {
    /// A table of accounts that were opened by a code sent to a phone.
    case phoneCodes = "phone-codes"
    /// Supabase's `auth.users` and `auth.identities`.
    case supabase
    /// Firebase's `auth:export`, or what its Admin SDK lists.
    case firebase
    /// The users of a pool of Amazon Cognito's.
    case cognito

    /// How many files it may have.
    public var filesRange: ClosedRange<Int> { self == .supabase ? 1...2 : 1...1 }
}
