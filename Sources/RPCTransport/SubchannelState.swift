import RPC

/// What one address's part of a channel does: which connections it has and what comes next. A pure value.
///
/// States: IDLE → CONNECTING → READY → (last connection lost) IDLE; CONNECTING → (failed) TRANSIENT_FAILURE → (waited) IDLE;
/// SHUTDOWN from each, and nothing after it. While it is READY another connection may be being made, or waited for.
struct SubchannelState: Sendable {
    private let backoff: Backoff
    /// Attempts to connect that failed one after the other.
    private var failures = 0
    private let connectionsMax: Int
    private(set) var openCount = 0
    private(set) var isConnecting = false
    /// Which wait there is; a wait that was given up is recognized by its number.
    private(set) var wait: Int?
    private var nextWait = 0
    private var isShutDown = false

    init(backoff: Backoff, connectionsMax: Int) {
        self.backoff = backoff
        self.connectionsMax = max(1, connectionsMax)
    }

    /// As gRPC calls it.
    var state: ConnectivityState {
        if isShutDown { return .shutdown }
        if openCount > 0 { return .ready }
        if isConnecting { return .connecting }
        return wait == nil ? .idle : .transientFailure
    }

    /// Whether a connection may be begun now: none is being made or waited for, and there are less than the maximum.
    var canConnect: Bool { !isShutDown && !isConnecting && wait == nil && openCount < connectionsMax }

    /// A connection is being made.
    mutating func began() {
        precondition(canConnect, "a connection too many")
        isConnecting = true
    }

    /// It takes calls.
    mutating func opened() {
        isConnecting = false
        openCount += 1
        failures = 0
    }

    /// It could not be made. How long to wait before the next try, and the wait's number.
    ///
    /// - Parameter random: a number in `0..<1`, for the jitter.
    mutating func failed(random: Double) -> (wait: Duration, number: Int) {
        failures += 1
        isConnecting = false
        nextWait += 1
        wait = nextWait
        return (backoff.wait(failures: failures, random: random), nextWait)
    }

    /// A wait is over. False if it was given up before.
    mutating func waited(_ number: Int) -> Bool {
        guard wait == number else { return false }
        wait = nil
        return true
    }

    /// The address answers somebody else: there is nothing to wait for. False if there was no wait.
    mutating func waitNoLonger() -> Bool {
        guard wait != nil else { return false }
        wait = nil
        return true
    }

    /// A connection that took calls takes none any more.
    mutating func lost() { openCount -= 1 }

    /// Over.
    mutating func shutDown() {
        isShutDown = true
        isConnecting = false
        wait = nil
    }
}
