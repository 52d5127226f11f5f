import ServiceKit

/// How the gateway judges access tokens.
enum SessionCheck: String, CaseIterable, Sendable {
    /// By identity's answer of the last minute, while identity's stream of ended sessions is heard in time.
    case stream
    /// By identity with each request, which reads the session's row.
    case row
}
