/// Whose word counts for when a refresh token came in from its owner: who could say any time could present an old token
/// again and again, and be late instead of caught.
public enum CallerTrust: Sendable, Hashable {
    /// Nobody's: a token comes in when the call does.
    case nobody
    /// Everybody's: only they can call who are on this machine, in development.
    case everybody
    /// That of callers whose certificate has one of these names (DNS or URI).
    case named(Set<String>)

    /// Whether the word of a caller with these names in its certificate counts.
    public func believes(_ certificateNames: [String]) -> Bool {
        switch self {
        case .nobody: false
        case .everybody: true
        case .named(let names): certificateNames.contains { names.contains($0) }
        }
    }
}
