import RPC

/// How often a call was tried again by the policy.
struct RetryCount: Sendable, Hashable {
    /// In all; sent as `grpc-previous-rpc-attempts`.
    private(set) var total = 0
    /// Since the server last named a wait, which begins the growing waits anew.
    private(set) var sincePushback = 0

    /// Another attempt follows.
    mutating func add(_ pushback: RetryPolicy.Pushback) {
        total += 1
        if case .wait = pushback { sincePushback = 0 } else { sincePushback += 1 }
    }
}
