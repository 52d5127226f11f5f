import RPC
import RPCTransport
import SwiftProtobuf
import Synchronization

/// A service whose calls end as a script says, one entry for each attempt, and with OK after its end.
final class ScriptedService: RPCService {
    typealias Text = Google_Protobuf_StringValue

    /// How an attempt ends.
    enum End: Sendable {
        case error(Status.Code, pushback: String? = nil)
        /// A message, and then an error. For streaming methods only.
        case messageThenError(Status.Code)
    }

    static let name = "vestibule.test.v1.ScriptedService"
    static let idempotent = MethodDescriptor(service: name, method: "Idempotent", isIdempotent: true)
    static let once = MethodDescriptor(service: name, method: "Once")
    static let listing = MethodDescriptor(
        service: name,
        method: "Listing",
        kind: .serverStreaming,
        isIdempotent: true
    )

    private struct State {
        var script: [End]
        var previousAttempts: [String?] = []
        var requests: [String] = []
    }
    private let state: Mutex<State>
    /// The answer of a successful call.
    let answer: String

    init(_ script: [End] = [], answer: String = "done") {
        state = Mutex(State(script: script))
        self.answer = answer
    }

    /// The value of `grpc-previous-rpc-attempts` in each attempt.
    var previousAttempts: [String?] { state.withLock { $0.previousAttempts } }
    /// The request of each attempt.
    var requests: [String] { state.withLock { $0.requests } }

    func play(_ script: [End]) { state.withLock { $0.script = script } }

    func register(in router: inout Router) {
        for method in [Self.idempotent, Self.once] {
            router.unary(method) { [self] (request: Text, context) -> Text in
                if let end = next(request, context) { try fail(end, context) }
                return .with { $0.value = answer }
            }
        }
        router.serverStreaming(Self.listing) {
            [self] (request: Text, writer: MessageWriter<Text>, context) async throws in
            if let end = next(request, context) {
                if case .messageThenError = end { try await writer.write(.with { $0.value = "first" }) }
                try fail(end, context)
            }
            try await writer.write(.with { $0.value = answer })
        }
    }

    private func next(_ request: Text, _ context: ServerContext) -> End? {
        state.withLock { state in
            state.previousAttempts.append(context.metadata.first("grpc-previous-rpc-attempts"))
            state.requests.append(request.value)
            return state.script.isEmpty ? nil : state.script.removeFirst()
        }
    }

    private func fail(_ end: End, _ context: ServerContext) throws {
        switch end {
        case .error(let code, let pushback):
            if let pushback { context.setTrailingMetadata(Metadata(["grpc-retry-pushback-ms": pushback])) }
            throw RPCError(code, "scripted")
        case .messageThenError(let code): throw RPCError(code, "scripted")
        }
    }
}

/// Calls the service's methods.
extension RPCChannel {
    func scripted(
        _ method: MethodDescriptor,
        _ text: String = "ask",
        options: CallOptions = .init(timeout: .seconds(10))
    ) async throws -> String {
        try await unary(
            method,
            ScriptedService.Text.with { $0.value = text },
            response: ScriptedService.Text.self,
            options: options
        ).value
    }

    func listing(_ text: String = "ask", options: CallOptions = .init(timeout: .seconds(10))) async throws -> [String] {
        try await serverStreaming(
            ScriptedService.listing,
            ScriptedService.Text.with { $0.value = text },
            response: ScriptedService.Text.self,
            options: options
        ) { reader in
            var texts: [String] = []
            for try await message in reader { texts.append(message.value) }
            return texts
        }
    }
}

/// Servers at loopback addresses, each with its own services, that can be stopped and started; and channels to them.
/// All on one group of loops.
final class Replicas: Sendable {
    let group: EventLoopGroup
    let port: Int
    private let servers = Mutex<[String: RPCServer]>([:])
    private let channels = Mutex<[RPCChannel]>([])

    /// Starts the services of the first address, which chooses the port for all.
    private init(first: String, _ services: [any RPCService], group: EventLoopGroup, _ server: ServerConfiguration)
        async throws
    {
        self.group = group
        let started = Replicas.server(group, services, server, host: first, port: 0)
        port = try await started.start()
        servers.withLock { $0[server.host] = started }
    }

    /// Runs a test with the first replica, at 127.0.0.1, and closes all that it opened.
    static func run(
        loops: Int = 1,
        _ services: any RPCService...,
        server: ServerConfiguration = .init(),
        _ body: (Replicas) async throws -> Void
    ) async throws {
        let group = try EventLoopGroup(loopCount: loops, name: "replica")
        let replicas = try await Replicas(first: server.host, services, group: group, server)
        let result: Result<Void, any Error>
        do { result = .success(try await body(replicas)) } catch { result = .failure(error) }
        for channel in replicas.channels.withLock({ $0 }) { await channel.close() }
        for server in replicas.servers.withLock({ Array($0.values) }) { await server.shutdown() }
        await group.shutdown()
        try result.get()
    }

    private static func server(
        _ group: EventLoopGroup,
        _ services: [any RPCService],
        _ configuration: ServerConfiguration,
        host: String,
        port: Int
    ) -> RPCServer {
        var router = Router()
        for service in services { router.add(service) }
        var configuration = configuration
        configuration.host = host
        configuration.port = port
        return RPCServer(group: group, router: router, configuration: configuration)
    }

    /// Starts services at an address, with the same port.
    func start(_ host: String, _ services: any RPCService..., configuration: ServerConfiguration = .init()) async throws
    {
        let server = Self.server(group, services, configuration, host: host, port: port)
        try await server.start()
        servers.withLock { $0[host] = server }
    }

    /// Closes a server's sockets at once.
    func stop(_ host: String) async {
        guard let server = servers.withLock({ $0.removeValue(forKey: host) }) else { return }
        await server.shutdown()
    }

    /// Drains a server in the background, like one that is stopping.
    func drain(_ host: String) async {
        guard let server = servers.withLock({ $0[host] }) else { return }
        await server.drain()
    }

    /// A channel on the same loops, closed at the end; to the addresses, or to the target.
    func channel(_ hosts: String..., target: String? = nil, configuration: ChannelConfiguration = .init()) throws
        -> RPCChannel
    {
        let target = target ?? hosts.map { "\($0):\(port)" }.joined(separator: ",")
        let channel = try RPCChannel(target: target, group: group, configuration: configuration)
        channels.withLock { $0.append(channel) }
        return channel
    }
}
