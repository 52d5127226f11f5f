/// Who counts as a gateway, or as an operator.
///
/// A gateway's word counts for when a refresh token came in from its owner: who could say any time could present an old token
/// again and again, and be late instead of caught. And it is given proofs of its callers to other services. An operator may do
/// with any account what operators do.
public enum CallerTrust: Sendable, Hashable {
    /// Nobody.
    case nobody
    /// Everybody: only they can call who are on this machine, in development.
    case everybody
    /// Callers whose certificate has one of these names (DNS or URI).
    case named(Set<String>)

    /// Whether a caller with these names in its certificate is one.
    public func believes(_ certificateNames: [String]) -> Bool {
        switch self {
        case .nobody: false
        case .everybody: true
        case .named(let names): certificateNames.contains { names.contains($0) }
        }
    }

    /// The caller's name among those of its certificate; nil if callers aren't recognized by names.
    public func name(in certificateNames: [String]) -> String? {
        if case .named(let names) = self { certificateNames.first { names.contains($0) } } else { nil }
    }
}
