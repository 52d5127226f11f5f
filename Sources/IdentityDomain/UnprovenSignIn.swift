import JOSE

/// A sign-in of somebody who only says who they are, which the operator lets pass in one dialect.
public struct UnprovenSignIn: Sendable, Hashable {
    /// The dialects in which it can be let pass: those whose apps, as they stood, show no proof.
    public static let dialects: Set<String> = ["wordpress"]

    /// The dialect, in which alone the session is good.
    public let dialect: String
    /// The provider.
    public let provider: ProviderName
    /// The provider's name for the person, as the app tells it.
    public let subject: String
    /// The app that the session counts to.
    public let clientID: String
    /// The e-mail that the app tells.
    public let email: String?
    /// The name that the app tells.
    public let fullName: String?
    /// The device as its app calls it.
    public let deviceName: String?

    /// What is kept of such a sign-in.
    ///
    /// - Parameter allowed: the dialects in which the operator lets it pass.
    /// - Throws: `proofRequired` for another dialect, the refusal of a subject that no provider gives out.
    public init(
        dialect: String,
        provider: ProviderName,
        subject: String,
        clientID: String,
        email: String,
        fullName: String,
        deviceName: String,
        allowed: Set<String>
    ) throws(IdentityError) {
        guard allowed.contains(dialect) else { throw .signIn(.proofRequired) }
        guard ProviderPolicy.isSubject(subject) else { throw .token(.subject) }
        self.dialect = dialect
        self.provider = provider
        self.subject = subject
        self.clientID = clientID
        self.email = EmailAddress.accept(email)
        self.fullName = ProviderGivenName.accept(fullName)
        self.deviceName = DeviceName.accept(deviceName)
    }
}
