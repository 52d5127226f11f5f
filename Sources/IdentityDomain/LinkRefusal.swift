/// Why the providers of an account stay as they are.
public enum LinkRefusal: Error, Sendable, Hashable, CaseIterable {
    /// The account has another identity of the provider.
    case providerAlreadyLinked
    /// The identity opens another account.
    case identityTaken
    /// It isn't decided yet which of two accounts absorbs the other.
    case absorptionUnderWay
    /// The account would be left with nothing to sign in by.
    case lastProvider
}
