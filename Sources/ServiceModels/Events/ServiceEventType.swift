/// What a service besides identity tells targets of webhooks, by way of identity.
public enum ServiceEventType: String, Sendable, Hashable, CaseIterable {
    /// Somebody's profile has all fields that the app requires.
    case profileCompleted = "profile.completed"
    /// Somebody's phone number is another one, or there is none any more.
    case phoneChanged = "phone.changed"
    /// Somebody is in a group that they didn't make.
    case groupJoined = "group.joined"

    /// The service that tells it: the last part of the URI in its certificate.
    public var service: String {
        switch self {
        case .profileCompleted, .phoneChanged: "profile"
        case .groupJoined: "invites"
        }
    }

    /// What a service tells.
    public static func told(by service: String) -> [ServiceEventType] { allCases.filter { $0.service == service } }
}
