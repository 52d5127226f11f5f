/// A provider that the simulator plays.
enum Provider: String, CaseIterable, Sendable {
    case apple
    case google

    /// The `iss` of its tokens: the real one's.
    var issuer: String {
        switch self {
        case .apple: "https://appleid.apple.com"
        case .google: "https://accounts.google.com"
        }
    }

    /// How long its tokens live, in seconds: Apple's a day, Google's an hour.
    var tokenLifetimeSeconds: Int64 {
        switch self {
        case .apple: 86_400
        case .google: 3600
        }
    }
}
