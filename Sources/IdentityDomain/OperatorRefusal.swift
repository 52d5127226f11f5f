/// Why what an operator asked for was refused: one case for each reason on the wire.
public enum OperatorRefusal: Error, Sendable, Hashable, CaseIterable {
    /// The caller's certificate is no operator's.
    case notAnOperator
    /// It isn't said which account is meant.
    case accountUnnamed
    /// What is looked for is no e-mail address.
    case emailInvalid
    /// The reason is no word of ``BlockReason``.
    case reasonInvalid
    /// A page can't have that size.
    case pageSizeInvalid
    /// The page token isn't one of this list and account.
    case cursorInvalid
    /// Profile, which has the phone numbers, can't be asked now.
    case profileUnavailable
    /// Invites, which has the groups, can't be asked now.
    case groupsUnavailable
    /// The account wasn't imported, or somebody can sign in to it.
    case accountNotOpenable
    /// The other account isn't empty, or has a provider that can't open an account.
    case accountNotAbsorbable
}
