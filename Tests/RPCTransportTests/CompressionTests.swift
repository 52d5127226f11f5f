import FoundationEssentials
import RPC
import RPCTransport
import SwiftProtobuf
import Testing

/// Messages that are sent compressed, in both directions.
@Suite(.timeLimit(.minutes(5)))
struct CompressionTests {
    typealias Bytes = Google_Protobuf_BytesValue
    static let service = "vestibule.test.v1.PackingService"
    static let echo = MethodDescriptor(service: service, method: "Echo")
    static let talk = MethodDescriptor(service: service, method: "Talk", kind: .bidirectionalStreaming)
    static let messageBytesMax = 100_000

    /// Answers compressed if the metadata says so.
    private struct PackingService: RPCService {
        func register(in router: inout Router) {
            router.unary(echo) { (request: Bytes, context) -> Bytes in
                let isPacked = await prepare(context)
                context.setTrailingMetadata(Metadata(["x-packed": "\(isPacked) \(context.isRequestCompressed)"]))
                return request
            }
            router.bidirectionalStreaming(talk) {
                (requests: MessageReader<Bytes>, responses: MessageWriter<Bytes>, context) in
                _ = await prepare(context)
                for try await request in requests { try await responses.write(request) }
            }
        }

        private func prepare(_ context: ServerContext) async -> Bool {
            context.metadata.first("x-pack") == "1" ? await context.compressResponses() : false
        }
    }

    private func withChannel(_ body: (RPCChannel) async throws -> Void) async throws {
        var router = Router()
        router.add(PackingService())
        let group = try EventLoopGroup(loopCount: 1, name: "packing")
        var configuration = ServerConfiguration()
        configuration.limits.messageBytesMax = Self.messageBytesMax
        let server = RPCServer(group: group, router: router, configuration: configuration)
        let port = try await server.start()
        var client = ChannelConfiguration()
        client.limits.messageBytesMax = Self.messageBytesMax
        let channel = try RPCChannel(target: "127.0.0.1:\(port)", group: group, configuration: client)
        do {
            try await body(channel)
        } catch {
            Issue.record(error)
        }
        await channel.close()
        await server.shutdown()
        await group.shutdown()
    }

    private static func message(_ count: Int) -> Bytes { .with { $0.value = Data(count: count) } }

    private static func options(sends: Bool, takes: Bool, _ metadata: ResponseMetadata) -> CallOptions {
        var options = CallOptions(timeout: .seconds(60), metadata: Metadata(["x-pack": takes ? "1" : "0"]))
        options.compressesRequest = sends
        options.responseMetadata = metadata
        return options
    }

    @Test(arguments: [true, false], [true, false]) func `Unary calls are compressed where asked`(
        sends: Bool,
        takes: Bool
    )
        async throws
    {
        try await withChannel { (channel) async throws -> Void in
            let metadata = ResponseMetadata()
            let answer = try await channel.unary(
                Self.echo,
                Self.message(50_000),
                response: Bytes.self,
                options: Self.options(sends: sends, takes: takes, metadata)
            )
            #expect(answer == Self.message(50_000))
            #expect(metadata.isCompressed == takes)
            #expect(metadata.trailing?.first("x-packed") == "\(takes) \(sends)")
        }
    }

    @Test func `A message that doesn't get shorter is sent uncompressed`() async throws {
        try await withChannel { (channel) async throws -> Void in
            let metadata = ResponseMetadata()
            let answer = try await channel.unary(
                Self.echo,
                Self.message(1),
                response: Bytes.self,
                options: Self.options(sends: true, takes: true, metadata)
            )
            #expect(answer == Self.message(1))
            #expect(!metadata.isCompressed)
            #expect(metadata.trailing?.first("x-packed") == "true false")
        }
    }

    @Test func `Streams are compressed both ways`() async throws {
        try await withChannel { (channel) async throws -> Void in
            let metadata = ResponseMetadata()
            let sizes = [0, 1, 50_000, 99_000, 3]
            let answers = try await channel.stream(
                Self.talk,
                request: Bytes.self,
                response: Bytes.self,
                options: Self.options(sends: true, takes: true, metadata)
            ) { writer, reader in
                for size in sizes { try await writer.write(Self.message(size)) }
                writer.finish()
                return try await reader.reduce(into: [Int]()) { $0.append($1.value.count) }
            }
            #expect(answers == sizes)
            #expect(metadata.isCompressed)
        }
    }

    /// Far more than the windows hold before it is inflated comes through, one message at a time.
    @Test func `Many compressed messages keep the window open`() async throws {
        try await withChannel { (channel) async throws -> Void in
            let count = 3000
            let received = try await channel.stream(
                Self.talk,
                request: Bytes.self,
                response: Bytes.self,
                options: Self.options(sends: true, takes: true, ResponseMetadata())
            ) { writer, reader in
                async let sent: Void = {
                    for _ in 0..<count { try await writer.write(Self.message(90_000)) }
                    writer.finish()
                }()
                let received = try await reader.reduce(0) { $0 + $1.value.count }
                try await sent
                return received
            }
            #expect(received == count * 90_000)
        }
    }

    @Test(arguments: [echo, talk]) func `A message inflated past the limit fails`(method: MethodDescriptor) async throws
    {
        try await withChannel { (channel) async throws -> Void in
            let options = Self.options(sends: true, takes: false, ResponseMetadata())
            let error = await #expect(throws: RPCError.self) {
                if method.kind == .unary {
                    _ = try await channel.unary(
                        method,
                        Self.message(Self.messageBytesMax + 1),
                        response: Bytes.self,
                        options: options
                    )
                } else {
                    try await channel.stream(
                        method,
                        request: Bytes.self,
                        response: Bytes.self,
                        options: options
                    ) { writer, reader in
                        try await writer.write(Self.message(Self.messageBytesMax + 1))
                        for try await _ in reader {}
                    }
                }
            }
            #expect(error?.code == .resourceExhausted)
        }
    }
}
