import RPC
import SwiftProtobuf
import Testing

/// Methods that are refused for a while.
struct SuspendedMethodsTests {
    typealias Text = Google_Protobuf_StringValue

    static let kinds: [CallKind] = [.unary, .serverStreaming, .clientStreaming, .bidirectionalStreaming]

    static func channel(_ kind: CallKind, until: Deadline) -> InProcessChannel {
        let suspended = SuspendedMethods(until: [RouterTests.method(kind).path: until]) { _ in
            RPCError(.unavailable, "suspended")
        }
        var router = Router(suspended: suspended)
        router.unary(RouterTests.method(.unary)) { (request: Text, _) in request }
        router.serverStreaming(RouterTests.method(.serverStreaming)) {
            (request: Text, answers: MessageWriter<Text>, _) in try await answers.write(request)
        }
        router.clientStreaming(RouterTests.method(.clientStreaming)) { (requests: MessageReader<Text>, _) -> Text in
            try await requests.reduce(Text()) { $1 }
        }
        router.bidirectionalStreaming(RouterTests.method(.bidirectionalStreaming)) {
            (requests: MessageReader<Text>, answers: MessageWriter<Text>, _) in
            for try await request in requests { try await answers.write(request) }
        }
        return InProcessChannel(router)
    }

    @Test(arguments: kinds)
    func `A call is refused until the moment`(kind: CallKind) async throws {
        let channel = Self.channel(kind, until: .never)
        let error = await #expect(throws: RPCError.self) {
            guard kind == .bidirectionalStreaming else { return try await RouterTests.call(kind, channel) }
            // Without a message: to write one to a call that has ended is an error of its own.
            let options = CallOptions(timeout: .seconds(5))
            let method = RouterTests.method(kind)
            try await channel.stream(method, request: Text.self, response: Text.self, options: options) {
                writer,
                reader in
                writer.finish()
                for try await _ in reader {}
            }
        }
        #expect(error?.code == .unavailable)
    }

    @Test(arguments: kinds)
    func `A call after the moment is handled, and so are other methods' calls`(kind: CallKind) async throws {
        try await RouterTests.call(kind, Self.channel(kind, until: .now()))
        for other in Self.kinds where other != kind {
            try await RouterTests.call(other, Self.channel(kind, until: .never))
        }
    }
}
