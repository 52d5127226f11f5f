import IdentityDomain

/// A server that is told of events.
struct WebhookTarget: Sendable {
    /// The most targets.
    static let countMax = 16
    /// The most secrets that sign for one: an old and a new one, and some.
    static let secretsMax = 4

    /// The name by which it is configured, and stands in metrics, logs and the database.
    let name: String
    /// Where it is. What stands behind the host may be as good as a secret, so it isn't shown.
    let url: String
    /// The URL as far as it is shown.
    let place: String
    /// All sign, so that the target may change from one to the other whenever it wants.
    let secrets: [WebhookSecret]
    /// What it is told of.
    let types: Set<WebhookType>
    /// Whether it may be asked at a private address, and by `http`.
    let mayBePrivate: Bool

    /// The types as they stand in the database.
    var typeNames: [String] { types.map(\.rawValue).sorted() }
}
