import RPC
import SwiftProtobuf
import Testing

/// What interceptors make of calls, whatever their shape.
struct RouterTests {
    typealias Text = Google_Protobuf_StringValue

    /// Lets the handler answer, and then refuses.
    struct Refusing: ServerInterceptor {
        func intercept<Request: Message, Response: Message>(
            _ request: Request,
            _ context: ServerContext,
            next: @Sendable (Request, ServerContext) async throws -> Response
        ) async throws -> Response {
            _ = try await next(request, context)
            throw RPCError(.permissionDenied, "not so")
        }

        func interceptStream(_ context: ServerContext, next: @Sendable () async throws -> Void) async throws {
            try await next()
            throw RPCError(.permissionDenied, "not so")
        }
    }

    /// Answers in the handler's place, which a stream's interceptor can't.
    struct Silent: ServerInterceptor {
        func intercept<Request: Message, Response: Message>(
            _ request: Request,
            _ context: ServerContext,
            next: @Sendable (Request, ServerContext) async throws -> Response
        ) async throws -> Response { Response() }

        func interceptStream(_ context: ServerContext, next: @Sendable () async throws -> Void) async throws {}
    }

    static func method(_ kind: CallKind) -> MethodDescriptor {
        MethodDescriptor(service: "test.Shapes", method: "\(kind)", kind: kind)
    }

    static func channel(_ interceptor: any ServerInterceptor) -> InProcessChannel {
        var router = Router(interceptors: [interceptor])
        router.unary(method(.unary)) { (request: Text, _) in request }
        router.serverStreaming(method(.serverStreaming)) { (request: Text, answers: MessageWriter<Text>, _) in
            try await answers.write(request)
        }
        router.clientStreaming(method(.clientStreaming)) { (requests: MessageReader<Text>, _) -> Text in
            try await requests.reduce(Text()) { $1 }
        }
        router.bidirectionalStreaming(method(.bidirectionalStreaming)) {
            (requests: MessageReader<Text>, answers: MessageWriter<Text>, _) in
            for try await request in requests { try await answers.write(request) }
        }
        return InProcessChannel(router)
    }

    /// Makes a call with one message each way.
    static func call(_ kind: CallKind, _ channel: InProcessChannel) async throws {
        let options = CallOptions(timeout: .seconds(5))
        switch kind {
        case .unary:
            _ = try await channel.unary(method(kind), Text(), response: Text.self, options: options)
        case .clientStreaming:
            _ = try await channel.clientStreaming(
                method(kind),
                request: Text.self,
                response: Text.self,
                options: options
            ) { writer in try await writer.write(Text()) }
        case .serverStreaming, .bidirectionalStreaming:
            try await channel.stream(method(kind), request: Text.self, response: Text.self, options: options) {
                writer,
                reader in
                try await writer.write(Text())
                writer.finish()
                for try await _ in reader {}
            }
        }
    }

    @Test(arguments: [CallKind.unary, .serverStreaming, .clientStreaming, .bidirectionalStreaming]
    )
    func `The caller gets an error that an interceptor throws after the handler`(kind: CallKind) async {
        let error = await #expect(throws: RPCError.self) { try await Self.call(kind, Self.channel(Refusing())) }
        #expect(error?.code == .permissionDenied)
    }

    @Test func `A client-streaming call whose handler was not asked ends with INTERNAL, and at once`() async {
        let error = await #expect(throws: RPCError.self) {
            try await Self.call(.clientStreaming, Self.channel(Silent()))
        }
        #expect(error?.code == .internalError)
    }
}
