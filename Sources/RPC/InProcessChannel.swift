import SwiftProtobuf
import Synchronization

/// Calls a router's handlers without a network: messages are encoded and decoded, deadlines and cancellation hold.
public final class InProcessChannel: ClientChannel {
    private let router: Router
    private let peer = PeerInfo(address: "in-process")

    /// A channel to a router.
    public init(_ router: Router) {
        self.router = router
    }

    /// Calls a unary method.
    public func unary<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        _ request: Request,
        response: Response.Type,
        options: CallOptions
    ) async throws(RPCError) -> Response {
        guard let handler = router[method.path] else {
            options.responseMetadata?.receiveEnd()
            throw RPCError(.unimplemented, "unknown method \(method.path)")
        }
        guard handler.descriptor.kind == .unary else {
            options.responseMetadata?.receiveEnd()
            throw RPCError(.unimplemented, "\(method.path) is a streaming method")
        }
        let options = OnwardCall.options(options)
        if let deadline = options.deadline, deadline.hasPassed {
            options.responseMetadata?.receiveEnd()
            throw RPCError(.deadlineExceeded, "the deadline passed before the call began")
        }
        let message: MessageBuffer
        do {
            message = try MessageBuffer(encoding: request)
        } catch {
            options.responseMetadata?.receiveEnd()
            throw RPCError(.internalError, "the request cannot be encoded", cause: error)
        }
        let call = InProcessCall(method: method, options: options, peer: peer)
        let timer = options.limit.map { deadline in
            Task {
                try await Task.sleep(for: deadline.remaining)
                call.end(.failure(RPCError(.deadlineExceeded, "the deadline passed")), cancelling: true)
            }
        }
        defer { timer?.cancel() }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                call.begin(continuation)
                message.withUnsafeBytes { handler.start(call, message: $0) }
            }
        } onCancel: {
            call.end(.failure(RPCError(.cancelled, "the call was cancelled")), cancelling: true)
        }
        do {
            return try Response(serializedBytes: answer.get())
        } catch let error as RPCError {
            throw error
        } catch {
            throw RPCError(.internalError, "the answer is not a valid message", cause: error)
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
        guard let handler = router[method.path] else {
            options.responseMetadata?.receiveEnd()
            throw RPCError(.unimplemented, "unknown method \(method.path)")
        }
        let options = OnwardCall.options(options)
        let call = InProcessStream(method: method, options: options, peer: peer, handler: handler)
        let timer = options.limit.map { deadline in
            Task {
                try await Task.sleep(for: deadline.remaining)
                call.end(RPCError(.deadlineExceeded, "the deadline passed"))
            }
        }
        defer {
            timer?.cancel()
            call.end(RPCError(.cancelled, "the caller was done"))
        }
        call.begin()
        return try await withTaskCancellationHandler {
            try await body(
                RequestWriter(call.requests),
                MessageReader(call.answer)
            )
        } onCancel: {
            call.end(RPCError(.cancelled, "the call was cancelled"))
        }
    }
}

extension CallOptions {
    /// The deadline, if it can pass; the handler gets it.
    var limit: Deadline? { deadline == .never ? nil : deadline }
}
