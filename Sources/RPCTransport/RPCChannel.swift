import RPC
import ServiceLifecycle
import SwiftProtobuf
import Synchronization

/// Calls a server, or the replicas of one, over HTTP/2.
///
/// Each loop of the group has connections of its own. A call made on a loop stays on that loop's thread; calls from
/// elsewhere are spread over the loops in turn. The channel connects when a call needs it; after a loss the next call connects
/// again. After a failed attempt there is a wait, which grows with each further one. While no address can be connected to,
/// calls fail with UNAVAILABLE at once, or wait if `CallOptions.waitForReady` says so.
///
/// It takes calls from the beginning. As a `Service` it ends with its `ServiceGroup`; `withRPCChannel` ends it with a
/// closure. A channel that nobody holds any more closes its connections.
public final class RPCChannel: ClientChannel, Service {
    private let group: EventLoopGroup
    private let configuration: ChannelConfiguration
    private let channels: [LoopChannel]
    /// Nil where nothing is traced.
    private let tracing: ClientTracing?
    /// Nil where the target has addresses only.
    private let resolver: ChannelResolver?
    private let isRun = Atomic(false)

    /// A channel to `host:port` (`[address]:port` for IPv6), or to several, separated by commas. A host name stands for all
    /// its addresses. Nothing is connected yet. Throws `TransportError` if the target or a certificate cannot be used.
    public init(target: String, group: EventLoopGroup, configuration: ChannelConfiguration = .init()) throws {
        let target = try ChannelTarget(target)
        let tls = try configuration.tls.map { try TLSRules($0, side: .client) }
        self.group = group
        self.configuration = configuration
        tracing = configuration.tracer.map { ClientTracing($0, target: target) }
        let endpoints = ChannelResolver.endpointsInDigits(target)
        let budget = RetryBudget(configuration.retry)
        let channels = group.loops.map { loop in
            LoopChannel(
                loop: loop,
                target: target,
                endpoints: endpoints,
                configuration: configuration,
                tls: tls,
                budget: budget
            )
        }
        self.channels = channels
        if endpoints == nil {
            resolver = ChannelResolver(home: group.loops[0], target: target, configuration: configuration) { result in
                for channel in channels { channel.loop.execute { channel.take(result) } }
            }
        } else {
            resolver = nil
        }
        for (index, channel) in channels.enumerated() {
            channel.onReady = { [weak self] endpoint in self?.connectNow(endpoint, besides: index) }
            if let resolver { channel.resolveAgain = { [weak resolver] in resolver?.ask() } }
        }
    }

    deinit {
        closeResolver()
        for channel in channels { channel.loop.execute { channel.close() } }
    }

    /// One loop has connected to an address, so the others need not wait to connect to it again: a caller that knows that
    /// the server is up must not get an error from a loop that still waits.
    private func connectNow(_ endpoint: Endpoint, besides index: Int) {
        for (other, channel) in channels.enumerated() where other != index {
            channel.loop.execute { channel.connectNow(endpoint) }
        }
    }

    /// Reads the files of certificates, keys and authorities again, for new connections. Open connections keep theirs. Throws
    /// `TransportError.tls`, and then nothing has changed. Any thread.
    public func reloadCertificates() async throws {
        guard let tls = try configuration.tls.map({ try TLSRules($0, side: .client) }) else { return }
        for channel in channels { try await channel.loop.run { channel.use(tls) } }
    }

    /// Calls a unary method; see `ClientChannel`.
    public func unary<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        _ request: Request,
        response: Response.Type,
        options: CallOptions
    ) async throws(RPCError) -> Response {
        var options = OnwardCall.options(options)
        let deadline = options.deadline ?? configuration.defaultDeadline
        guard !deadline.hasPassed else {
            options.responseMetadata?.receiveEnd()
            throw RPCError(.deadlineExceeded, "the deadline passed before the call began")
        }
        let span = tracing?.start(method, &options)
        let channel = channels[group.next().index]
        let call = UnaryClientCall<Request, Response>(
            method: method,
            metadata: options.metadata,
            deadline: deadline,
            waitsForReady: options.waitForReady,
            loop: channel.loop,
            request: request
        )
        call.span = span
        call.responseMetadata = options.responseMetadata
        call.sendsGzip = options.compressesRequest
        call.messageBytesMax = configuration.limits.messageBytesMax
        await Self.complete(call, on: channel)
        if let failure = call.failure { throw failure }
        return call.response
    }

    /// Starts a call, and returns when it has completed. Knows nothing of its messages, so that the compiler makes one function
    /// of it and of the library's that it waits in, and stays on the executor of its caller, so that only the wait is one.
    private nonisolated(nonsending) static func complete(_ call: ClientCall, on channel: LoopChannel) async {
        await withTaskCancellationHandler {
            // Unsafe only in that nothing checks that it resumes once: the call does, by giving it away.
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                call.completion = continuation
                if channel.loop.isCurrent {
                    channel.start(call)
                } else {
                    channel.loop.execute { channel.start(call) }
                }
            }
        } onCancel: {
            channel.loop.execute { channel.cancel(call) }
        }
    }

    /// Opens a call of any kind; see `ClientChannel`.
    public func stream<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message, Result: Sendable>(
        _ method: MethodDescriptor,
        request: Request.Type,
        response: Response.Type,
        options: CallOptions,
        _ body: @Sendable (RequestWriter<Request>, MessageReader<Response>) async throws -> Result
    ) async throws -> Result {
        var options = OnwardCall.options(options)
        let span = tracing?.start(method, &options)
        let channel = channels[group.next().index]
        let call = StreamingClientCall(
            method: method,
            metadata: options.metadata,
            deadline: options.deadline ?? configuration.defaultDeadline,
            waitsForReady: options.waitForReady,
            loop: channel.loop
        )
        call.span = span
        call.responseMetadata = options.responseMetadata
        call.sendsGzip = options.compressesRequest
        call.messageBytesMax = configuration.limits.messageBytesMax
        let reader = MessageReader<Response>(call.answer)
        let cancel: @Sendable () -> Void = { channel.loop.execute { channel.cancel(call) } }
        if channel.loop.isCurrent { channel.start(call) } else { channel.loop.execute { channel.start(call) } }
        defer { cancel() }  // nothing happens if the call has ended
        return try await withTaskCancellationHandler {
            try await body(RequestWriter(call), reader)
        } onCancel: {
            cancel()
        }
    }

    /// Runs until shutdown or cancellation, then closes the channel. A graceful shutdown of its `ServiceGroup` lets the calls
    /// in flight finish, as `drain` does; cancellation ends them at once. Throws `TransportError.alreadyRun` the second time.
    public func run() async throws {
        guard !isRun.exchange(true, ordering: .relaxed) else { throw TransportError.alreadyRun }
        try? await gracefulShutdown()
        await withTaskCancellationHandler {
            if !Task.isCancelled { await drain() }
        } onCancel: {
            for channel in channels { channel.loop.execute { channel.close() } }
        }
        await close()
    }

    /// Takes no new calls, which fail with UNAVAILABLE, as do those that wait for a connection. Returns when the calls in
    /// flight have ended, at the latest after `ConnectionLimits.drainTimeout`. A cancelled task waits as well.
    public func drain() async {
        closeResolver()
        let end = Deadline.after(configuration.limits.drainTimeout)
        for channel in channels { channel.loop.execute { channel.drain() } }
        for channel in channels { await channel.waitUntilDrained(deadline: end) }
    }

    /// Ends all connections at once. Calls in flight fail with UNAVAILABLE, and so do all later ones.
    public func close() async {
        closeResolver()
        for channel in channels { try? await channel.loop.run { channel.close() } }
    }

    private func closeResolver() {
        if let resolver { group.loops[0].execute { resolver.close() } }
    }
}

/// Runs a closure with a channel. When the closure returns, the calls in flight may finish (`RPCChannel.drain`); when it
/// throws or its task was cancelled, they end at once.
///
/// Throws `TransportError` as `RPCChannel.init(target:group:configuration:)` does, and what the closure throws.
public nonisolated(nonsending) func withRPCChannel<Result>(
    target: String,
    group: EventLoopGroup,
    configuration: ChannelConfiguration = .init(),
    _ body: (RPCChannel) async throws -> Result
) async throws -> Result {
    let channel = try RPCChannel(target: target, group: group, configuration: configuration)
    do {
        let result = try await body(channel)
        if !Task.isCancelled { await channel.drain() }
        await channel.close()
        return result
    } catch {
        await channel.close()
        throw error
    }
}
