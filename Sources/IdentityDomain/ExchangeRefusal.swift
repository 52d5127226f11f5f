/// Why a question that a sign-in makes us ask a provider lets nobody in, beside what ``SignInRefusal`` has: one case for each
/// reason on the wire.
public enum ExchangeRefusal: Error, Sendable, Hashable {
    /// The access token was issued to another app.
    case accessTokenForeign
    /// The provider says that the access token is not good, or it can be none.
    case accessTokenInvalid
    /// Too many codes or tokens were refused; in so many milliseconds that is forgotten.
    case tooManyRefused(retryAfterMilliseconds: Int64)
}
