import IdentityDomain

/// A webhook target: a server that receives events.
struct WebhookTarget: Sendable {
    /// The maximum of targets.
    static let countMax = 16
    /// The maximum of secrets that sign for one target: an old and a new one, and some more.
    static let secretsMax = 4

    /// Its name in the configuration, metrics, logs and the database.
    let name: String
    /// Its URL. The part after the host may be as good as a secret, so it isn't shown.
    let url: String
    /// The part of the URL that may be shown.
    let place: String
    /// Each secret signs, so that the target may switch from one to another at any time.
    let secrets: [WebhookSecret]
    /// The event types that it receives.
    let types: Set<WebhookType>
    /// Whether it may have a private address, and use `http`.
    let mayBePrivate: Bool

    /// The event types as stored in the database.
    var typeNames: [String] { types.map(\.rawValue).sorted() }
}
