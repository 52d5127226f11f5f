import RPC
import RPCTransport
import SwiftProtobuf
import Testing

/// The metadata of answers, over sockets and in process, of each kind of call.
@Suite(.timeLimit(.minutes(5)))
struct ResponseMetadataTests {
    typealias Text = Google_Protobuf_StringValue
    static let service = "vestibule.test.v1.HeadService"
    static let unary = MethodDescriptor(service: service, method: "Unary")
    static let download = MethodDescriptor(service: service, method: "Download", kind: .serverStreaming)
    static let upload = MethodDescriptor(service: service, method: "Upload", kind: .clientStreaming)
    static let talk = MethodDescriptor(service: service, method: "Talk", kind: .bidirectionalStreaming)

    /// Sends a head and trailers, and fails if the request says so.
    private struct HeadService: RPCService {
        func register(in router: inout Router) {
            router.unary(unary) { (request: Text, context) -> Text in
                try await answer(request, context)
                return request
            }
            router.serverStreaming(download) { (request: Text, responses: MessageWriter<Text>, context) in
                try await answer(request, context)
                try await responses.write(request)
            }
            router.clientStreaming(upload) { (requests: MessageReader<Text>, context) -> Text in
                var last = Text()
                for try await request in requests { last = request }
                try await answer(last, context)
                return last
            }
            router.bidirectionalStreaming(talk) {
                (requests: MessageReader<Text>, responses: MessageWriter<Text>, context) in
                try await context.sendInitialMetadata(head)
                context.setTrailingMetadata(trailers)
                for try await request in requests { try await responses.write(request) }
            }
        }

        private func answer(_ request: Text, _ context: ServerContext) async throws {
            if request.value == "plain" { return }
            if request.value == "elsewhere" {
                // From another thread than the call's.
                try await Task.detached { try await context.sendInitialMetadata(head) }.value
            } else {
                try await context.sendInitialMetadata(head)
            }
            context.setTrailingMetadata(trailers)
            if request.value == "twice" { try await context.sendInitialMetadata(head) }
            if request.value == "fail" { throw RPCError(.aborted, "no", metadata: Metadata(["x-error": "e"])) }
        }
    }

    static let head: Metadata = {
        var head = Metadata(["x-one": "1", "x-two": "2", "x-one": "3"])
        head.addBinary("x-data", [0, 255, 10])
        head.addBinary("x-data", [])
        return head
    }()
    static let trailers: Metadata = {
        var trailers = Metadata(["x-end": "b", "x-end": "a"])
        trailers.addBinary("x-sum", [1, 2])
        return trailers
    }()

    private func withChannels(_ body: (any ClientChannel) async throws -> Void) async throws {
        var router = Router()
        router.add(HeadService())
        try await body(InProcessChannel(router))
        let group = try EventLoopGroup(loopCount: 1, name: "heads")
        let server = RPCServer(group: group, router: router, configuration: .init())
        let port = try await server.start()
        let channel = try RPCChannel(target: "127.0.0.1:\(port)", group: group)
        do {
            try await body(channel)
        } catch {
            Issue.record(error)
        }
        await channel.close()
        await server.shutdown()
        await group.shutdown()
    }

    private static func text(_ value: String) -> Text { .with { $0.value = value } }

    private static func options(_ metadata: ResponseMetadata) -> CallOptions {
        var options = CallOptions(timeout: .seconds(20))
        options.responseMetadata = metadata
        return options
    }

    /// Order and repetitions are as sent.
    private static func entries(_ metadata: Metadata?) -> [String]? { metadata?.map { "\($0.name)=\($0.value)" } }

    private static func expectAll(_ metadata: ResponseMetadata, trailing: Metadata = trailers) {
        #expect(entries(metadata.initial) == entries(head))
        #expect(metadata.initial?.allBinary("x-data") == [[0, 255, 10], []])
        #expect(entries(metadata.trailing) == entries(trailing))
    }

    @Test(arguments: ["ok", "elsewhere"]) func `A unary answer has head and trailers`(_ value: String) async throws {
        try await withChannels { (channel) async throws -> Void in
            let metadata = ResponseMetadata()
            let answer = try await channel.unary(
                Self.unary,
                Self.text(value),
                response: Text.self,
                options: Self.options(metadata)
            )
            #expect(answer.value == value)
            Self.expectAll(metadata)
        }
    }

    @Test func `An error has head and trailers`() async throws {
        try await withChannels { (channel) async throws -> Void in
            for method in [Self.unary, Self.download] {
                let metadata = ResponseMetadata()
                let error = await #expect(throws: RPCError.self) {
                    if method.kind == .unary {
                        _ = try await channel.unary(
                            method,
                            Self.text("fail"),
                            response: Text.self,
                            options: Self.options(metadata)
                        )
                    } else {
                        try await Self.read(channel, method, "fail", metadata)
                    }
                }
                #expect(error?.code == .aborted)
                var trailing = Self.trailers
                trailing.add("x-error", "e")
                Self.expectAll(metadata, trailing: trailing)
                #expect(error?.metadata == metadata.trailing)
            }
        }
    }

    private static func read(
        _ channel: any ClientChannel,
        _ method: MethodDescriptor,
        _ value: String,
        _ metadata: ResponseMetadata
    ) async throws {
        try await channel.serverStreaming(method, text(value), response: Text.self, options: options(metadata)) {
            reader in
            for try await message in reader { #expect(message.value == value) }
        }
    }

    @Test func `Streams have head and trailers`() async throws {
        try await withChannels { (channel) async throws -> Void in
            var metadata = ResponseMetadata()
            try await Self.read(channel, Self.download, "ok", metadata)
            Self.expectAll(metadata)
            metadata = ResponseMetadata()
            let answer = try await channel.clientStreaming(
                Self.upload,
                request: Text.self,
                response: Text.self,
                options: Self.options(metadata)
            ) { writer in try await writer.write(Self.text("up")) }
            #expect(answer.value == "up")
            Self.expectAll(metadata)
        }
    }

    @Test func `The head arrives before the first message`() async throws {
        try await withChannels { (channel) async throws -> Void in
            let metadata = ResponseMetadata()
            try await channel.stream(
                Self.talk,
                request: Text.self,
                response: Text.self,
                options: Self.options(metadata)
            ) { writer, reader in
                let head = await metadata.waitForInitial()
                #expect(Self.entries(head) == Self.entries(Self.head))
                #expect(metadata.trailing == nil)
                writer.finish()
                for try await _ in reader {}
            }
            Self.expectAll(metadata)
        }
    }

    @Test func `An answer without metadata has none`() async throws {
        try await withChannels { (channel) async throws -> Void in
            let metadata = ResponseMetadata()
            _ = try await channel.unary(
                Self.unary,
                Self.text("plain"),
                response: Text.self,
                options: Self.options(metadata)
            )
            #expect(metadata.initial?.isEmpty == true)
            #expect(metadata.trailing?.isEmpty == true)
        }
    }

    @Test func `A second head is an error`() async throws {
        try await withChannels { (channel) async throws -> Void in
            let error = await #expect(throws: RPCError.self) {
                _ = try await channel.unary(Self.unary, Self.text("twice"), response: Text.self, options: .init())
            }
            #expect(error?.code == .internalError)
            #expect(error?.message == "the answer has begun already")
        }
    }

    @Test func `A call that the server did not end has no trailers`() async throws {
        try await withChannels { (channel) async throws -> Void in
            let metadata = ResponseMetadata()
            var options = Self.options(metadata)
            options.deadline = .after(.milliseconds(100))
            let given = options
            let error = await #expect(throws: RPCError.self) {
                try await channel.stream(Self.talk, request: Text.self, response: Text.self, options: given) {
                    _,
                    reader in
                    for try await _ in reader {}
                }
            }
            #expect(error?.code == .deadlineExceeded)
            #expect(metadata.initial != nil)
            #expect(metadata.trailing == nil)
        }
    }

    @Test func `A wait for a head ends if the call fails without one`() async throws {
        try await withChannels { (channel) async throws -> Void in
            let metadata = ResponseMetadata()
            async let head = metadata.waitForInitial()
            let missing = MethodDescriptor(service: Self.service, method: "Missing")
            await #expect(throws: RPCError.self) {
                _ = try await channel.unary(missing, Text(), response: Text.self, options: Self.options(metadata))
            }
            #expect(await head == nil)
        }
    }
}
