/// What of all that an app presents says who signs in: the strongest of it.
public enum CredentialKind: Sendable, Hashable, CaseIterable {
    /// The provider's ID token; a code or an access token beside it is not who signs in.
    case idToken
    /// The tickets of a sign-in in a browser, in the places of ID token and code.
    case tickets
    /// An authorization code without an ID token.
    case code
    /// The provider's access token alone.
    case accessToken
    /// Only a name.
    case unproven

    /// How a ticket begins that stands for an ID token.
    public static let idTokenTicketPrefix = "vit1_"
    /// How a ticket begins that stands for an authorization code.
    public static let codeTicketPrefix = "vct1_"

    /// Tells what is presented; a text that is empty is not.
    ///
    /// - Throws: `credentialsMissing` if nothing is.
    public init(idToken: String, code: String, accessToken: String, isUnproven: Bool) throws(IdentityError) {
        if idToken.hasPrefix(Self.idTokenTicketPrefix) {
            self = .tickets
        } else if !idToken.isEmpty {
            self = .idToken
        } else if code.hasPrefix(Self.codeTicketPrefix) {
            self = .tickets
        } else if !code.isEmpty {
            self = .code
        } else if !accessToken.isEmpty {
            self = .accessToken
        } else if isUnproven {
            self = .unproven
        } else {
            throw .signIn(.credentialsMissing)
        }
    }
}
