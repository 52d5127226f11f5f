import RPC
import SwiftProtobuf

/// Calls a server over HTTP/2. Each loop of the group has a connection of its own, so that a call made on a loop stays
/// on its thread; a call from elsewhere goes to one loop after the other.
///
/// Connects when the first call needs it, and again with growing waits when the connection is lost. While it is waiting
/// to connect again, calls fail with UNAVAILABLE at once, or wait if their options say so.
public final class RPCChannel: ClientChannel {
    private let group: EventLoopGroup
    private let configuration: ChannelConfiguration
    private let channels: [LoopChannel]

    /// A channel to `host:port` (`[address]:port` for IPv6). Nothing is connected yet. Throws `TransportError` if the
    /// target or a certificate cannot be used.
    public init(target: String, group: EventLoopGroup, configuration: ChannelConfiguration = .init()) throws {
        let target = try ChannelTarget(target)
        let tls = try configuration.tls.map { try TLSRules($0, side: .client) }
        OnwardCall.expect()
        self.group = group
        self.configuration = configuration
        let budget = RetryBudget(configuration.retry)
        channels = group.loops.map {
            LoopChannel(loop: $0, target: target, configuration: configuration, tls: tls, budget: budget)
        }
        for (index, channel) in channels.enumerated() {
            channel.onReady = { [weak self] in self?.connectNow(besides: index) }
        }
    }

    /// The server answers one loop, so the others need not wait to connect again: whoever was told that the server is
    /// there must not meet a loop that still believes the opposite.
    private func connectNow(besides index: Int) {
        for (other, channel) in channels.enumerated() where other != index {
            channel.loop.execute { channel.connectNow() }
        }
    }

    /// Calls a unary method; see `ClientChannel`.
    public func unary<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        _ request: Request,
        response: Response.Type,
        options: CallOptions
    ) async throws(RPCError) -> Response {
        let options = OnwardCall.options(options)
        let deadline = options.deadline ?? .after(configuration.defaultTimeout)
        guard !deadline.hasPassed else {
            options.responseMetadata?.receiveEnd()
            throw RPCError(.deadlineExceeded, "the deadline passed before the call began")
        }
        let channel = channels[group.next().index]
        let call = UnaryClientCall<Request, Response>(
            method: method,
            metadata: options.metadata,
            deadline: deadline,
            waitsForReady: options.waitForReady,
            request: request
        )
        call.responseMetadata = options.responseMetadata
        call.sendsGzip = options.compressesRequest
        call.messageBytesMax = configuration.limits.messageBytesMax
        let result = await withTaskCancellationHandler {
            // Unsafe only in that nothing checks that it resumes once: `complete` does, by giving it away.
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Result<Response, RPCError>, Never>) in
                call.continuation = continuation
                if channel.loop.isCurrent {
                    channel.start(call)
                } else {
                    channel.loop.execute { channel.start(call) }
                }
            }
        } onCancel: {
            channel.loop.execute { channel.cancel(call) }
        }
        return try result.get()
    }

    /// Opens a call of any kind; see `ClientChannel`.
    public func stream<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message, Result: Sendable>(
        _ method: MethodDescriptor,
        request: Request.Type,
        response: Response.Type,
        options: CallOptions,
        _ body: @Sendable (RequestWriter<Request>, MessageReader<Response>) async throws -> Result
    ) async throws -> Result {
        let options = OnwardCall.options(options)
        let channel = channels[group.next().index]
        let call = StreamingClientCall<Response>(
            method: method,
            metadata: options.metadata,
            deadline: options.deadline ?? .after(configuration.defaultTimeout),
            waitsForReady: options.waitForReady,
            loop: channel.loop
        )
        call.responseMetadata = options.responseMetadata
        call.sendsGzip = options.compressesRequest
        call.messageBytesMax = configuration.limits.messageBytesMax
        let reader = MessageReader(call.answer)
        let cancel: @Sendable () -> Void = { channel.loop.execute { channel.cancel(call) } }
        if channel.loop.isCurrent { channel.start(call) } else { channel.loop.execute { channel.start(call) } }
        defer { cancel() }  // nothing happens if the call has ended
        return try await withTaskCancellationHandler {
            try await body(RequestWriter(call), reader)
        } onCancel: {
            cancel()
        }
    }

    /// Ends all connections at once; calls in flight fail with UNAVAILABLE, and so does every later one.
    public func close() async {
        for channel in channels { try? await channel.loop.run { channel.close() } }
    }
}
