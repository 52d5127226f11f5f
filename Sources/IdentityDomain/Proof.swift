/// How a sign-in was proven. Each session keeps it.
public enum Proof: String, Sendable, Hashable, CaseIterable {
    /// The ID token carries the nonce that the app presented, or one of ours: who has the token alone has nothing.
    case nonce = "nonce"
    /// We exchanged the authorization code with the provider, and it named this person.
    case code = "code"
    /// The ID token carries no nonce that the app knows; it was young and had bought nothing before. Another backend of
    /// the same audience could have used it first.
    case fresh = "fresh"
    /// The provider said whose access token it is, and that it was issued to our app.
    case accessToken = "access_token"
    /// Nothing: somebody knew the person's id at the provider. Good in one dialect only.
    case unproven = "unproven"
    /// A passkey of the account signed a challenge of ours.
    case passkey = "passkey"
    /// There is nobody to prove: the account is a guest's, and its session is all that opens it.
    case guest = "guest"
}
