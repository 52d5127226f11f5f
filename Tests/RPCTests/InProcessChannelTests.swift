import RPC
import SwiftProtobuf
import Synchronization
import Testing

struct InProcessChannelTests {
    typealias Text = Google_Protobuf_StringValue
    static let echo = MethodDescriptor(service: "test.Echo", method: "Echo")
    static let fail = MethodDescriptor(service: "test.Echo", method: "Fail")
    static let sleep = MethodDescriptor(service: "test.Echo", method: "Sleep")

    static func router(interceptors: [any ServerInterceptor] = []) -> Router {
        var router = Router(interceptors: interceptors)
        router.unary(echo) { (request: Text, _) in request }
        router.unary(fail) { (request: Text, context) -> Text in
            context.setTrailingMetadata(Metadata(["x-trailer": "t"]))
            throw RPCError(.notFound, request.value)
        }
        router.unary(sleep) { (request: Text, _) -> Text in
            try await Task.sleep(for: .seconds(30))
            return request
        }
        return router
    }

    func call(
        _ method: MethodDescriptor,
        _ value: String,
        options: CallOptions = .init(),
        router: Router = router()
    ) async throws -> String {
        var request = Text()
        request.value = value
        return try await InProcessChannel(router).unary(method, request, response: Text.self, options: options).value
    }

    @Test func `A call is answered`() async throws {
        #expect(try await call(Self.echo, "hello") == "hello")
    }

    @Test func `Errors come with their trailers`() async throws {
        let error = await #expect(throws: RPCError.self) { try await call(Self.fail, "gone") }
        #expect(error?.code == .notFound)
        #expect(error?.message == "gone")
        #expect(error?.metadata.first("x-trailer") == "t")
    }

    @Test func `A method that is not registered is UNIMPLEMENTED`() async throws {
        let other = MethodDescriptor(service: "test.Echo", method: "Other")
        let error = await #expect(throws: RPCError.self) { try await call(other, "") }
        #expect(error?.code == .unimplemented)
    }

    @Test func `A call ends at its deadline`() async throws {
        let error = await #expect(throws: RPCError.self) {
            try await call(Self.sleep, "", options: .init(timeout: .milliseconds(50)))
        }
        #expect(error?.code == .deadlineExceeded)
    }

    @Test func `A cancelled task's call ends with CANCELLED`() async throws {
        let task = Task { try await call(Self.sleep, "") }
        task.cancel()
        let error = await #expect(throws: RPCError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `Interceptors wrap each other`() async throws {
        let log = Log()
        let router = Self.router(interceptors: [Tracer("outer", log), Tracer("inner", log)])
        #expect(try await call(Self.echo, "x", router: router) == "x")
        #expect(log.lines == ["outer in", "inner in", "inner out", "outer out"])
    }

    @Test func `An onward call ends when the call must`() {
        let outer = ServerContext(
            ServerCall(
                method: Self.echo,
                metadata: Metadata(),
                deadline: .after(.seconds(1)),
                peer: PeerInfo(address: "x")
            )
        )
        #expect(CallOptions(inheriting: outer).deadline == outer.deadline)
        #expect(CallOptions(inheriting: outer, timeout: .seconds(60)).deadline == outer.deadline)
        let sooner = CallOptions(inheriting: outer, timeout: .milliseconds(1)).deadline
        #expect(sooner.map { deadline in outer.deadline.map { deadline < $0 } ?? false } == true)
    }

    final class Log: Sendable {
        private let kept = Mutex<[String]>([])
        var lines: [String] { kept.withLock { $0 } }
        func add(_ line: String) { kept.withLock { $0.append(line) } }
    }

    struct Tracer: ServerInterceptor {
        let name: String
        let log: Log
        init(_ name: String, _ log: Log) {
            self.name = name
            self.log = log
        }
        func intercept<Request: Message, Response: Message>(
            _ request: Request,
            _ context: ServerContext,
            next: @Sendable (Request, ServerContext) async throws -> Response
        ) async throws -> Response {
            log.add("\(name) in")
            defer { log.add("\(name) out") }
            return try await next(request, context)
        }
    }
}
