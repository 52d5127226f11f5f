import RPC
import SwiftProtobuf
import Synchronization
import Testing

struct ClientInterceptorTests {
    typealias Text = Google_Protobuf_StringValue
    static let echo = MethodDescriptor(service: "test.Echo", method: "Echo")
    static let talk = MethodDescriptor(service: "test.Echo", method: "Talk", kind: .bidirectionalStreaming)

    final class Log: Sendable {
        private let kept = Mutex<[String]>([])
        var lines: [String] { kept.withLock { $0 } }
        func add(_ line: String) { kept.withLock { $0.append(line) } }
    }

    /// Logs each call's way, and adds its name to the metadata.
    struct Tagger: ClientInterceptor {
        let name: String
        let log: Log

        func intercept<Request: Message, Response: Message>(
            _ method: MethodDescriptor,
            _ request: Request,
            _ options: CallOptions,
            next: @Sendable (Request, CallOptions) async throws(RPCError) -> Response
        ) async throws(RPCError) -> Response {
            log.add("\(name) \(method.method) in")
            defer { log.add("\(name) out") }
            return try await next(request, tagged(options))
        }

        func interceptStream<Result: Sendable>(
            _ method: MethodDescriptor,
            _ options: CallOptions,
            next: @Sendable (CallOptions) async throws -> Result
        ) async throws -> Result {
            log.add("\(name) \(method.method) in")
            defer { log.add("\(name) out") }
            return try await next(tagged(options))
        }

        private func tagged(_ options: CallOptions) -> CallOptions {
            var options = options
            options.metadata.add("x-tag", name)
            return options
        }
    }

    /// Answers in the server's place, or tries once more.
    struct Retry: ClientInterceptor {
        func intercept<Request: Message, Response: Message>(
            _ method: MethodDescriptor,
            _ request: Request,
            _ options: CallOptions,
            next: @Sendable (Request, CallOptions) async throws(RPCError) -> Response
        ) async throws(RPCError) -> Response {
            do {
                return try await next(request, options)
            } catch {
                guard error.code == .unavailable else { throw error }
                return try await next(request, options)
            }
        }
    }

    private static func channel(_ interceptors: [any ClientInterceptor], failures: Int = 0) -> InterceptedChannel {
        let left = Mutex(failures)
        var router = Router()
        router.unary(echo) { (_: Text, context) -> Text in
            let mustFail = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if mustFail { throw RPCError(.unavailable, "not yet") }
            return .with { $0.value = context.metadata.all("x-tag").joined(separator: ",") }
        }
        router.bidirectionalStreaming(talk) {
            (requests: MessageReader<Text>, responses: MessageWriter<Text>, context) in
            for try await request in requests {
                let tags = context.metadata.all("x-tag").joined(separator: ",")
                try await responses.write(.with { $0.value = request.value + ":" + tags })
            }
        }
        return InterceptedChannel(InProcessChannel(router), interceptors: interceptors)
    }

    @Test func `The first interceptor is the outermost`() async throws {
        let log = Log()
        let channel = Self.channel([Tagger(name: "a", log: log), Tagger(name: "b", log: log)])
        let answer = try await channel.unary(Self.echo, Text(), response: Text.self, options: .init())
        #expect(answer.value == "a,b")
        #expect(log.lines == ["a Echo in", "b Echo in", "b out", "a out"])
    }

    @Test func `Streams pass the interceptors too`() async throws {
        let log = Log()
        let channel = Self.channel([Tagger(name: "a", log: log), Retry(), Tagger(name: "b", log: log)])
        let answers = try await channel.stream(
            Self.talk,
            request: Text.self,
            response: Text.self,
            options: .init()
        ) { writer, reader in
            for value in ["1", "2"] { try await writer.write(.with { $0.value = value }) }
            writer.finish()
            return try await reader.reduce(into: [String]()) { $0.append($1.value) }
        }
        #expect(answers == ["1:a,b", "2:a,b"])
        #expect(log.lines == ["a Talk in", "b Talk in", "b out", "a out"])
    }

    @Test func `An interceptor may call again, and errors come through`() async throws {
        let answer = try await Self.channel([Retry()], failures: 1)
            .unary(Self.echo, Text(), response: Text.self, options: .init())
        #expect(answer.value == "")
        let error = await #expect(throws: RPCError.self) {
            try await Self.channel([Retry()], failures: 2).unary(
                Self.echo,
                Text(),
                response: Text.self,
                options: .init()
            )
        }
        #expect(error?.code == .unavailable)
    }
}
