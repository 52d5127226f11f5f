import CRPC
import RPC

/// A channel's part on one loop: the connection there is, and the calls that wait for one. Loop thread only, but for
/// the constants.
///
/// States: idle → resolving → connecting → ready → (lost) idle, or waiting to connect again → resolving …; closed.
/// Calls go onto the connection while it is still connecting, so that they leave with its first bytes.
final class LoopChannel: @unchecked Sendable {
    // Sound because everything but the constants is touched on the loop's thread only, which `start` checks.

    let loop: EventLoop
    private let target: ChannelTarget
    private let configuration: ChannelConfiguration
    private let tls: TLSRules?

    private enum State {
        case idle
        case resolving
        case connecting(ClientConnection, rest: ArraySlice<String>)
        case ready(ClientConnection)
        case waiting(RPCError)
        case closed
    }
    private var state = State.idle
    /// Connections that finish their calls and take no new ones.
    private var draining: [ObjectIdentifier: ClientConnection] = [:]
    private var waitingCalls: [ClientCall] = []
    private var backoff: Backoff
    private let retries: CallRetries
    /// Called on the loop when a connection is ready.
    var onReady: (() -> Void)?

    init(
        loop: EventLoop,
        target: ChannelTarget,
        configuration: ChannelConfiguration,
        tls: TLSRules?,
        budget: RetryBudget
    ) {
        retries = CallRetries(loop: loop, configuration: configuration, budget: budget)
        self.loop = loop
        self.target = target
        self.configuration = configuration
        self.tls = tls
        backoff = Backoff(first: configuration.backoffFirst, max: configuration.backoffMax)
    }

    // MARK: Calls

    func start(_ call: ClientCall) {
        loop.preconditionIsCurrent()
        guard !call.isCompleted else { return }
        call.channel = self
        switch state {
        case .ready(let connection) where connection.hasRoom: place(call, on: connection)
        case .ready, .connecting, .resolving: wait(call)
        case .idle:
            wait(call)
            resolve()
        case .waiting(let error):
            if call.waitsForReady { wait(call) } else { call.fail(error) }
        case .closed: call.fail(RPCError(.unavailable, "the channel is closed"))
        }
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
        guard waitingCalls.count < configuration.waitingCallsMax else {
            call.fail(RPCError(.resourceExhausted, "too many calls wait for a connection to \(target.authority)"))
            return
        }
        waitingCalls.append(call)
        guard call.timer == nil else { return }
        call.timer = loop.schedule(after: call.deadline.remaining) { [weak self, weak call] in
            guard let call else { return }
            call.fail(RPCError(.deadlineExceeded, "the deadline passed while waiting for a connection"))
            self?.waitingCalls.removeAll { $0 === call }
        }
    }

    /// Starts the calls that wait, as far as they can be.
    private func startWaiting() {
        let calls = waitingCalls
        waitingCalls = []
        for call in calls { start(call) }
    }

    func cancel(_ call: ClientCall) {
        loop.preconditionIsCurrent()
        guard !call.isCompleted else { return }
        call.fail(RPCError(.cancelled, "the call was cancelled"))
        waitingCalls.removeAll { $0 === call }
        retries.forget(call)
        if let stream = call.stream { crpc_stream_reset(stream, HTTP2Error.cancel) }
    }

    /// A call's stream has ended.
    func ended(_ call: ClientCall, _ outcome: crpc_outcome) {
        if outcome.status == 0 {
            call.succeed()
            retries.succeeded(call)
        } else if !retries.failed(call, outcome, again: { [weak self] in self?.start($0) }) {
            call.fail(RPCError(outcome))
        }
        if case .ready(let connection) = state, !waitingCalls.isEmpty, connection.hasRoom {
            startNextWaiting(on: connection)
        }
    }

    private func startNextWaiting(on connection: ClientConnection) {
        let call = waitingCalls.removeFirst()
        if !call.isCompleted { place(call, on: connection) }
    }

    // MARK: Connections

    private func resolve() {
        state = .resolving
        NameResolver.resolve(target.host) { [self] addresses in
            if loop.isCurrent { resolved(addresses) } else { loop.execute { self.resolved(addresses) } }
        }
    }

    private func resolved(_ addresses: [String]) {
        guard case .resolving = state else { return }
        if addresses.isEmpty {
            retryLater(RPCError(.unavailable, "the name \(target.host) has no address"))
        } else {
            connect(addresses[...])
        }
    }

    /// Connects to the first address that can be tried; the others follow if it fails.
    private func connect(_ addresses: ArraySlice<String>) {
        var rest = addresses
        while let address = rest.popFirst() {
            guard
                let connection = try? ClientConnection(
                    channel: self,
                    address: address,
                    target: target,
                    configuration: configuration,
                    tls: tls
                )
            else { continue }
            state = .connecting(connection, rest: rest)
            return
        }
        retryLater(RPCError(.unavailable, "cannot connect to \(target.authority)"))
    }

    /// The connection is ready for calls.
    func opened(_ connection: ClientConnection) {
        guard case .connecting(let current, _) = state, current === connection else { return }
        state = .ready(connection)
        backoff.reset()
        startWaiting()
        onReady?()
    }

    /// The server wants no more calls on the connection; those there finish.
    func lost(_ connection: ClientConnection) {
        draining[ObjectIdentifier(connection)] = connection
        forget(connection)
    }

    private func forget(_ connection: ClientConnection) {
        guard case .ready(let current) = state, current === connection else { return }
        state = .idle
        if !waitingCalls.isEmpty { resolve() }
    }

    func closed(_ connection: ClientConnection, _ error: Int32) {
        draining[ObjectIdentifier(connection)] = nil
        switch state {
        case .connecting(let current, let rest) where current === connection:
            if rest.isEmpty {
                let reason = String(cString: crpc_error_text(error))
                retryLater(RPCError(.unavailable, "cannot connect to \(target.authority): \(reason)"))
            } else {
                connect(rest)
            }
        default: forget(connection)
        }
    }

    /// Fails the calls that don't want to wait, and connects again later.
    private func retryLater(_ error: RPCError) {
        state = .waiting(error)
        var random = SystemRandomNumberGenerator()
        loop.schedule(after: backoff.next(using: &random)) { [weak self] in
            guard let self, case .waiting = state else { return }
            if waitingCalls.isEmpty { state = .idle } else { resolve() }
        }
        startWaiting()
    }

    /// Waits no longer to connect again: the server answers another loop.
    func connectNow() {
        loop.preconditionIsCurrent()
        guard case .waiting = state else { return }
        if waitingCalls.isEmpty { state = .idle } else { resolve() }
    }

    /// Ends everything.
    func close() {
        loop.preconditionIsCurrent()
        onReady = nil
        let last = state
        state = .closed
        switch last {
        case .connecting(let connection, _), .ready(let connection): connection.close()
        default: break
        }
        for connection in draining.values { connection.close() }
        retries.failAll(RPCError(.unavailable, "the channel is closed"))
        startWaiting()
    }
}
