import CRPC
import RPC

/// The calls of one loop that wait to be tried again, and what is decided when an attempt fails (gRFC A6). Loop thread
/// only.
final class CallRetries {
    private let loop: EventLoop
    private let policy: RetryPolicy
    private let budget: RetryBudget
    private let transparentRetriesMax: Int
    private let waitingMax: Int
    private var waiting: [ObjectIdentifier: ClientCall] = [:]

    init(loop: EventLoop, configuration: ChannelConfiguration, budget: RetryBudget) {
        self.loop = loop
        policy = configuration.retry
        self.budget = budget
        transparentRetriesMax = configuration.transparentRetriesMax
        waitingMax = configuration.waitingCallsMax
    }

    /// A call ended with OK.
    func succeeded(_ call: ClientCall) {
        if call.method.isIdempotent { budget.succeeded() }
    }

    /// An attempt ended otherwise. Whether `again` will be called to make another one; if not, the call is to fail.
    ///
    /// - Parameter again: starts the call; later, since the connection may just be being let go.
    func failed(_ call: ClientCall, _ outcome: crpc_outcome, again: @escaping @Sendable (ClientCall) -> Void) -> Bool {
        guard !call.isCompleted, call.canBeRepeated else { return false }
        if outcome.is_unprocessed, call.transparentRetries < transparentRetriesMax {
            call.transparentRetries += 1
            call.span?.attemptFailed(Status.Code(wire: Int(outcome.status)), isTransparent: true)
            call.resetForRetry()
            loop.execute { again(call) }
            return true
        }
        guard call.method.isIdempotent, policy.attemptsMax > 1 else { return false }
        let code = Status.Code(wire: Int(outcome.status))
        let trailers = Metadata(packedAt: outcome.metadata, count: outcome.metadata_length)
        let pushback = RetryPolicy.Pushback(trailers.first("grpc-retry-pushback-ms"))
        guard policy.spendsToken(code, pushback: pushback), budget.failed(), waiting.count < waitingMax else {
            return false
        }
        let wait = policy.wait(
            after: code,
            pushback: pushback,
            retries: call.retries,
            timeLeft: call.deadline.remaining,
            chance: .random(in: 0...1)
        )
        guard let wait else { return false }
        call.retries.add(pushback)
        call.span?.attemptFailed(code, isTransparent: false)
        call.resetForRetry()
        begin(wait, call, again)
        return true
    }

    private func begin(_ wait: Duration, _ call: ClientCall, _ again: @escaping @Sendable (ClientCall) -> Void) {
        waiting[ObjectIdentifier(call)] = call
        call.timer = loop.schedule(after: wait) { [weak self] in
            call.timer = nil
            self?.waiting[ObjectIdentifier(call)] = nil
            again(call)
        }
    }

    /// The call waits no more, if it did: it was cancelled.
    func forget(_ call: ClientCall) {
        if !waiting.isEmpty { waiting[ObjectIdentifier(call)] = nil }
    }

    /// Fails the calls that wait.
    func failAll(_ error: RPCError) {
        let calls = waiting.values
        waiting = [:]
        for call in calls { call.fail(error) }
    }
}
