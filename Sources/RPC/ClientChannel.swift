import SwiftProtobuf

/// Calls the methods of a server. A generated client is made with a channel.
public protocol ClientChannel: Sendable {
    /// Calls a unary method. May be called from any thread or executor.
    ///
    /// Cancelling the task ends the call with CANCELLED. Throws the server's status if it is not OK, or the
    /// transport's view of what went wrong (UNAVAILABLE, DEADLINE_EXCEEDED, …).
    func unary<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        _ request: Request,
        response: Response.Type,
        options: CallOptions
    ) async throws(RPCError) -> Response

    /// Opens a call of any kind and hands its two directions to `body`. May be called from any thread or executor.
    ///
    /// `body` sends with the writer, says with `finish` that nothing follows, and reads the answer. The call ends when
    /// `body` returns: what it did not read is given up, and a request that it did not finish is cancelled. The reader
    /// throws the status if it is not OK. Cancelling the task ends the call with CANCELLED.
    func stream<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message, Result: Sendable>(
        _ method: MethodDescriptor,
        request: Request.Type,
        response: Response.Type,
        options: CallOptions,
        _ body: @Sendable (RequestWriter<Request>, MessageReader<Response>) async throws -> Result
    ) async throws -> Result
}

extension ClientChannel {
    /// Calls a server-streaming method, and hands the answer's messages to `body`.
    public func serverStreaming<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message, Result: Sendable>(
        _ method: MethodDescriptor,
        _ request: Request,
        response: Response.Type,
        options: CallOptions,
        _ body: @Sendable (MessageReader<Response>) async throws -> Result
    ) async throws -> Result {
        try await stream(method, request: Request.self, response: response, options: options) { writer, reader in
            try await writer.write(request)
            writer.finish()
            return try await body(reader)
        }
    }

    /// Calls a client-streaming method. `body` writes the request's messages.
    public func clientStreaming<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        request: Request.Type,
        response: Response.Type,
        options: CallOptions,
        _ body: @Sendable (RequestWriter<Request>) async throws -> Void
    ) async throws -> Response {
        try await stream(method, request: request, response: response, options: options) { writer, reader in
            do {
                try await body(writer)
                writer.finish()
            } catch let error as RPCError where writer.saysEnd(error) {
                // The server ended the call before it had all; its answer says why.
            }
            var answer: Response?
            for try await message in reader {
                guard answer == nil else {
                    throw RPCError(.internalError, "the server answered with more than one message")
                }
                answer = message
            }
            guard let answer else { throw RPCError(.internalError, "the server answered OK without a message") }
            return answer
        }
    }
}
