import CRPC
import RPC

/// The part of a channel on one loop: its addresses with their connections, and the calls that wait for a connection. Loop
/// thread only, but for the constants.
///
/// A call goes to the connection that the balancer picks. If no connection can take it, the call waits until the names are
/// resolved, a connection is ready, or another call has ended. It fails at its deadline. A call without `waitsForReady` also
/// fails when every address has failed. Connections are opened when a call needs one, and not before.
final class LoopChannel: @unchecked Sendable {
    // Sound because everything but the constants is touched on the loop's thread only, which `start` checks.

    let loop: EventLoop
    let configuration: ChannelConfiguration
    private let target: ChannelTarget
    private let retries: CallRetries
    /// The rules of new connections.
    private(set) var tls: TLSRules?
    private var subchannels: [Subchannel] = []
    /// Those whose address is none of the target's any more, until their last call has ended.
    private var leaving: [Subchannel] = []
    private var balancer: Balancer
    /// Whether there are addresses to connect to at the next call.
    private var hasIdle = false
    private var queue = CallQueue()
    /// Whether the queue is looked at in the next turn.
    private var servesSoon = false
    /// Why there is no connection.
    private var lastError: RPCError?
    /// States: open → draining → closed, or open → closed. Only an open one takes calls.
    private enum Phase { case open, draining, closed }
    private var phase = Phase.open
    private var isClosed: Bool { phase != .open }
    /// Who waits until it is drained or closed.
    private var waitingForEnd: [Int: (continuation: CheckedContinuation<Void, Never>, timer: LoopTimer)] = [:]
    private var nextWait = 0
    /// Whether the loop closes it at its own end.
    private var isKept = false
    /// Whether a connection was lost and the names have not been resolved since: the address may be gone because another
    /// one has taken its place.
    private var awaitsAddresses = false
    /// Called when a connection is ready.
    var onReady: ((Endpoint) -> Void)?
    /// Asks for the names to be resolved again; nil where there are none.
    var resolveAgain: (() -> Void)?

    /// - Parameter endpoints: the addresses, if the target has no names.
    init(
        loop: EventLoop,
        target: ChannelTarget,
        endpoints: [Endpoint]?,
        configuration: ChannelConfiguration,
        tls: TLSRules?,
        budget: RetryBudget
    ) {
        self.loop = loop
        self.target = target
        self.configuration = configuration
        self.tls = tls
        retries = CallRetries(loop: loop, configuration: configuration, budget: budget)
        balancer = Balancer(firstTurn: Int.random(in: 0..<1 << 20))
        if let endpoints { replace(endpoints) }
    }

    // MARK: Calls

    func start(_ call: ClientCall) {
        loop.preconditionIsCurrent()
        guard !call.isCompleted else { return }
        call.channel = self
        if call.isCancelledEarly { return call.fail(Self.cancelled) }
        if queue.isEmpty, let connection = pick() {
            place(call, on: connection)
            if hasIdle { connectMore() }
        } else {
            wait(call)
        }
    }

    private func pick() -> ClientConnection? {
        var picked: ClientConnection?
        _ = balancer.pick { index in
            picked = subchannels[index].connectionWithRoom
            return picked != nil
        }
        return picked
    }

    private func place(_ call: ClientCall, on connection: ClientConnection) {
        call.timer?.cancel()
        call.timer = nil
        do {
            try connection.open(call)
        } catch {
            call.fail(error)
        }
    }

    private func wait(_ call: ClientCall) {
        guard !isClosed, !loop.isEnding else { return call.fail(Self.closed) }
        // From now on there may be connections.
        if !isKept {
            isKept = true
            loop.closeAtEnd(self) { [self] in close() }
        }
        if let failure, !call.waitsForReady { return call.fail(failure) }
        guard queue.count < configuration.waitingCallsMax else {
            call.fail(RPCError(.resourceExhausted, "too many calls wait for a connection to \(target.text)"))
            return
        }
        queue.append(call)
        if call.timer == nil, call.deadline != .never {
            call.timer = loop.schedule(after: call.deadline.remaining) { [weak self, weak call] in
                guard let call else { return }
                call.fail(RPCError(.deadlineExceeded, "the deadline passed while waiting for a connection"))
                self?.queue.remove(call)
            }
        }
        connectMore()
    }

    /// Why calls that do not wait for readiness fail now; nil while there is hope.
    private var failure: RPCError? {
        let isHopeless = subchannels.isEmpty || balancer.state == .transientFailure
        return isHopeless && !awaitsAddresses ? lastError : nil
    }

    /// Starts the calls that wait, as far as they can be, and fails those that would not wait longer.
    private func serveWaiting() {
        while !queue.isEmpty, let connection = pick(), let call = queue.popFirst() { place(call, on: connection) }
        guard !queue.isEmpty else { return }
        if let failure {
            for call in queue.removeAll(where: { !$0.waitsForReady }) { call.fail(failure) }
        }
        if !queue.isEmpty { connectMore() }
    }

    /// Ends a call with CANCELLED. It may come before the start, since the two come by themselves: nobody waits for the
    /// end yet then, so that it is the start that tells it.
    func cancel(_ call: ClientCall) {
        loop.preconditionIsCurrent()
        guard !call.isCompleted else { return }
        guard call.channel != nil else {
            call.isCancelledEarly = true
            return
        }
        call.fail(Self.cancelled)
        queue.remove(call)
        retries.forget(call)
        if let stream = call.stream { crpc_stream_reset(stream, HTTP2Error.cancel) }
    }

    /// A call's stream has ended.
    func ended(_ call: ClientCall, _ outcome: crpc_outcome) {
        if outcome.status == 0 {
            call.succeed()
            retries.succeeded(call)
        } else if isClosed || !retries.failed(call, outcome, again: { [weak self] in self?.start($0) }) {
            call.fail(RPCError(outcome))
        }
        if !queue.isEmpty { roomMayFollow() }
    }

    /// Serves those that wait after a call ended: now, and in the next turn if a stream was reset, which makes room only
    /// once that has been sent.
    private func roomMayFollow() {
        serveWaiting()
        guard !queue.isEmpty, !servesSoon else { return }
        servesSoon = true
        loop.execute { [self] in
            servesSoon = false
            serveWaiting()
        }
    }

    // MARK: Addresses and connections

    /// What the names were resolved to, which may be other addresses than before. Connections to those that stay are
    /// kept; those to others take no more calls.
    func take(_ result: Result<[Endpoint], RPCError>) {
        loop.preconditionIsCurrent()
        guard !isClosed else { return }
        awaitsAddresses = false
        switch result {
        case .success(let endpoints): replace(endpoints)
        case .failure(let error): if subchannels.isEmpty { lastError = error }
        }
        serveWaiting()
    }

    private func replace(_ endpoints: [Endpoint]) {
        var former: [Endpoint: Subchannel] = [:]
        for subchannel in subchannels { former[subchannel.endpoint] = subchannel }
        var seen: Set<Endpoint> = []
        subchannels = endpoints.filter { seen.insert($0).inserted }.prefix(ChannelTarget.addressesMax).enumerated()
            .map { index, endpoint in
                let kept = former.removeValue(forKey: endpoint)
                kept?.index = index
                return kept
                    ?? Subchannel(endpoint: endpoint, index: index, channel: self, configuration: configuration)
            }
        balancer.replace(subchannels.map(\.state))
        hasIdle = !balancer.toConnect.isEmpty
        for subchannel in former.values {
            subchannel.index = nil
            subchannel.shutDown()
            if !subchannel.isEmpty { leaving.append(subchannel) }
        }
    }

    /// An address's state changed; `error` says why, if it cannot be connected to.
    func changed(_ subchannel: Subchannel, _ error: RPCError? = nil) {
        guard let index = subchannel.index, !isClosed else { return }
        if let error { lastError = error }
        let former = balancer.states[index]
        balancer.update(index, subchannel.state)
        hasIdle = !balancer.toConnect.isEmpty
        // Lost or not reached: there may be other addresses by now.
        let isLost = former == .ready && subchannel.state != .ready
        if error != nil || isLost { resolveAgain?() }
        if isLost && resolveAgain != nil { awaitsAddresses = true }
        serveWaiting()
    }

    /// An address's last connection has ended.
    func emptied(_ subchannel: Subchannel) {
        if subchannel.index == nil { leaving.removeAll { $0 === subchannel } }
        if phase == .draining, leaving.isEmpty { resumeWaiting() }
    }

    /// Begins the connections that are wanted now that there is a call.
    private func connectMore() {
        guard !subchannels.isEmpty else {
            resolveAgain?()
            return
        }
        for index in balancer.toConnect { subchannels[index].connect() }
        // Every connection is full: another one to each address, up to the maximum.
        guard !queue.isEmpty, balancer.state == .ready else { return }
        for subchannel in subchannels where subchannel.state == .ready && subchannel.connectionWithRoom == nil {
            subchannel.connect()
        }
    }

    /// Waits no longer to connect to an address again: it answers another loop.
    func connectNow(_ endpoint: Endpoint) {
        loop.preconditionIsCurrent()
        subchannels.first { $0.endpoint == endpoint }?.connectNow()
    }

    /// New connections use these rules.
    func use(_ tls: TLSRules) {
        loop.preconditionIsCurrent()
        self.tls = tls
    }

    /// Takes no more calls. Those on a connection finish; those that wait for one, or for another attempt, fail.
    func drain() {
        loop.preconditionIsCurrent()
        guard phase == .open else { return }
        refuseCalls(.draining)
        replace([])
        if leaving.isEmpty { resumeWaiting() }
    }

    /// Returns when no call is in flight any more, at the latest at the deadline. Any executor; after `drain`.
    func waitUntilDrained(deadline: Deadline) async {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                guard phase == .draining, !leaving.isEmpty, !loop.isEnding else { return continuation.resume() }
                nextWait += 1
                let timer = loop.schedule(after: deadline.remaining) { [weak self, wait = nextWait] in
                    self?.waitingForEnd.removeValue(forKey: wait)?.continuation.resume()
                }
                waitingForEnd[nextWait] = (continuation, timer)
            }
        }
    }

    /// Ends everything.
    func close() {
        loop.preconditionIsCurrent()
        guard phase != .closed else { return }
        loop.closed(self)
        refuseCalls(.closed)
        for subchannel in subchannels + leaving { subchannel.close() }
        balancer.replace([])
        resumeWaiting()
    }

    private func refuseCalls(_ next: Phase) {
        phase = next
        onReady = nil
        resolveAgain = nil
        for call in queue.removeAll(where: { _ in true }) { call.fail(Self.closed) }
        retries.failAll(Self.closed)
    }

    private func resumeWaiting() {
        let waiting = waitingForEnd
        waitingForEnd = [:]
        for (continuation, timer) in waiting.values {
            timer.cancel()
            continuation.resume()
        }
    }

    private static let closed = RPCError(.unavailable, "the channel is closed")
    private static let cancelled = RPCError(.cancelled, "the call was cancelled")
}
