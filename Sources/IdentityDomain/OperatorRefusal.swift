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
    /// No page ended so.
    case pageTokenInvalid
    /// Profile, which has the phone numbers, can't be asked now.
    case profileUnavailable
}
