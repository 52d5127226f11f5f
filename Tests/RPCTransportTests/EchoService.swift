import FoundationEssentials
import RPC
import RPCTransport
import SwiftProtobuf

/// A service with well-known message types, and a method for each way in which a call can end.
struct EchoService: RPCService {
    typealias Text = Google_Protobuf_StringValue
    typealias Bytes = Google_Protobuf_BytesValue
    typealias Number = Google_Protobuf_Int64Value

    static let name = "vestibule.test.v1.EchoService"
    static let echo = MethodDescriptor(service: name, method: "Echo", isIdempotent: true)
    static let fail = MethodDescriptor(service: name, method: "Fail")
    static let sleep = MethodDescriptor(service: name, method: "Sleep")
    static let yields = MethodDescriptor(service: name, method: "Yields")
    static let deadline = MethodDescriptor(service: name, method: "Deadline")
    static let metadata = MethodDescriptor(service: name, method: "Metadata")

    static let sum = MethodDescriptor(service: name, method: "Sum", kind: .clientStreaming)
    static let count = MethodDescriptor(service: name, method: "Count", kind: .serverStreaming)
    static let talk = MethodDescriptor(service: name, method: "Talk", kind: .bidirectionalStreaming)
    static let flood = MethodDescriptor(service: name, method: "Flood", kind: .serverStreaming)
    static let ignore = MethodDescriptor(service: name, method: "Ignore", kind: .clientStreaming)
    static let refuse = MethodDescriptor(service: name, method: "Refuse", kind: .clientStreaming)
    static let hold = MethodDescriptor(service: name, method: "Hold", kind: .bidirectionalStreaming)
    static let impatient = MethodDescriptor(service: name, method: "Impatient", kind: .serverStreaming)
    static let peerNames = MethodDescriptor(service: name, method: "PeerNames")

    /// Reports the ends of sleeping handlers.
    let probe: Probe?

    init(probe: Probe? = nil) { self.probe = probe }

    func register(in router: inout Router) {
        router.unary(Self.echo) { (request: Bytes, _) in request }
        router.unary(Self.fail) { (request: Text, context) -> Text in
            context.setTrailingMetadata(Metadata(["x-trailer": "seen"]))
            if request.value.isEmpty { throw Unexpected() }
            throw RPCError(.alreadyExists, request.value, statusDetails: [1, 2, 3])
        }
        router.unary(Self.sleep) { [probe] (request: Text, _) -> Text in
            await probe?.started()
            do {
                try await Task.sleep(for: .seconds(30))
            } catch {
                await probe?.cancelled()
                throw error
            }
            return request
        }
        router.unary(Self.yields) { (request: Text, _) -> Text in
            let before = EventLoop.current
            await Task.yield()
            async let child = EventLoop.current.map(\.index)
            let childIndex = await child
            guard let before, EventLoop.current === before, childIndex == before.index else {
                throw RPCError(.internalError, "left the loop")
            }
            return request
        }
        router.unary(Self.deadline) { (_: Text, context) -> Text in
            var answer = Text()
            answer.value = context.deadline == nil ? "none" : "some"
            return answer
        }
        registerStreaming(in: &router)
        router.unary(Self.peerNames) { (_: Text, context) -> Text in
            var answer = Text()
            answer.value = context.peer.certificateNames.joined(separator: ",")
            return answer
        }
        router.unary(Self.metadata) { (request: Text, context) -> Text in
            var trailers = Metadata()
            for value in context.metadata.all(request.value) { trailers.add("x-echo", value) }
            if let bytes = context.metadata.firstBinary("x-data-bin") {
                trailers.addBinary("x-back-bin", bytes.reversed())
            }
            context.setTrailingMetadata(trailers)
            var answer = Text()
            answer.value = context.metadata.first(request.value) ?? "none"
            return answer
        }
    }

    private func registerStreaming(in router: inout Router) {
        router.clientStreaming(Self.sum) { (requests: MessageReader<Number>, _) -> Number in
            var sum = Number()
            for try await number in requests { sum.value += number.value }
            return sum
        }
        router.serverStreaming(Self.count) { (request: Number, writer: MessageWriter<Number>, _) in
            for value in 0..<request.value {
                var number = Number()
                number.value = value
                try await writer.write(number)
            }
            if request.value == 13 { throw RPCError(.outOfRange, "unlucky") }
        }
        router.bidirectionalStreaming(Self.talk) {
            (requests: MessageReader<Bytes>, writer: MessageWriter<Bytes>, _) in
            for try await message in requests { try await writer.write(message) }
        }
        router.serverStreaming(Self.flood) { [probe] (_: Number, writer: MessageWriter<Bytes>, _) in
            var message = Bytes()
            message.value = .init(repeating: 7, count: 1000)
            do {
                while true {
                    try await writer.write(message)
                    await probe?.started()
                }
            } catch {
                await probe?.cancelled()
                throw error
            }
        }
        router.clientStreaming(Self.ignore) { [probe] (_: MessageReader<Bytes>, _) -> Number in
            await probe?.started()
            try await Task.sleep(for: .seconds(30))
            return Number()
        }
        // Reads nothing until the probe starts it, and then everything.
        router.bidirectionalStreaming(Self.hold) {
            [probe]
            (requests: MessageReader<Bytes>, writer: MessageWriter<Number>, _) in
            while await probe?.startedCount == 0 { try await Task.sleep(for: .milliseconds(5)) }
            var count = Number()
            for try await _ in requests { count.value += 1 }
            try await writer.write(count)
        }
        // Writes until it would have to wait, gives that up, and sends a last message.
        router.serverStreaming(Self.impatient) { [probe] (_: Number, writer: MessageWriter<Bytes>, _) in
            for _ in 0..<3 {
                let task = Task {
                    while true { try await writer.write(Bytes.with { $0.value = .init(repeating: 7, count: 20_000) }) }
                }
                try await Task.sleep(for: .milliseconds(20))
                task.cancel()
                _ = await task.result
            }
            await probe?.started()
            try await writer.write(Bytes.with { $0.value = .init(repeating: 7, count: 3) })
        }
        router.clientStreaming(Self.refuse) { (requests: MessageReader<Number>, _) -> Number in
            for try await _ in requests { throw RPCError(.permissionDenied, "not you") }
            return Number()
        }
    }

    struct Unexpected: Error {}

    /// Counts events, and lets a test wait for them.
    actor Probe {
        private(set) var startedCount = 0
        private(set) var cancelledCount = 0
        func started() { startedCount += 1 }
        func reset() { startedCount = 0 }
        func cancelled() { cancelledCount += 1 }
    }
}

/// A server and a channel to it, on separate loops.
struct Fixture {
    let serverGroup: EventLoopGroup
    let clientGroup: EventLoopGroup
    let server: RPCServer
    let channel: RPCChannel
    let port: Int

    init(
        loops: Int = 1,
        probe: EchoService.Probe? = nil,
        server configuration: ServerConfiguration = .init(),
        client clientConfiguration: ChannelConfiguration = .init()
    ) async throws {
        serverGroup = try EventLoopGroup(loopCount: loops, name: "server")
        clientGroup = try EventLoopGroup(loopCount: loops, name: "client")
        var router = Router()
        router.add(EchoService(probe: probe))
        server = RPCServer(group: serverGroup, router: router, configuration: configuration)
        port = try await server.start()
        channel = try RPCChannel(
            target: "127.0.0.1:\(port)",
            group: clientGroup,
            configuration: clientConfiguration
        )
    }

    func stop() async {
        await channel.close()
        await server.shutdown()
        await clientGroup.shutdown()
        await serverGroup.shutdown()
    }

    func echo(_ bytes: [UInt8], options: CallOptions = .init()) async throws -> [UInt8] {
        var request = EchoService.Bytes()
        request.value = .init(bytes)
        return Array(
            try await channel.unary(EchoService.echo, request, response: EchoService.Bytes.self, options: options).value
        )
    }

    func text(_ method: MethodDescriptor, _ value: String, options: CallOptions = .init()) async throws
        -> String
    {
        var request = EchoService.Text()
        request.value = value
        return try await channel.unary(method, request, response: EchoService.Text.self, options: options).value
    }
}

/// Runs a test against a fixture and stops it in any case.
func withFixture(
    loops: Int = 1,
    probe: EchoService.Probe? = nil,
    server: ServerConfiguration = .init(),
    client: ChannelConfiguration = .init(),
    _ body: (Fixture) async throws -> Void
) async throws {
    let fixture = try await Fixture(loops: loops, probe: probe, server: server, client: client)
    do {
        try await body(fixture)
    } catch {
        await fixture.stop()
        throw error
    }
    await fixture.stop()
}
