import Logging
import RPC
import ServiceLifecycle
import SwiftProtobuf
import TestWaits
import Testing

@testable import RPCTransport

/// Server and channel as services of a group, and in the closures of the `with…` functions.
@Suite(.timeLimit(.minutes(5)))
struct ServiceTests {
    /// A handler that waits until it is let go, or is cancelled.
    private struct Waiting: RPCService {
        static let method = MethodDescriptor(service: "test.v1.Waiting", method: "Wait")
        let started = Latch()
        let released = Latch()
        let cancelled = Latch()

        func register(in router: inout Router) {
            router.unary(Self.method) { (request: Google_Protobuf_Empty, _) in
                started.open()
                await withTaskCancellationHandler {
                    await released.wait()
                } onCancel: {
                    cancelled.open()
                    released.open()
                }
                try Task.checkCancellation()
                return request
            }
        }
    }

    private static func router(_ service: Waiting) -> Router {
        var router = Router()
        router.add(service)
        return router
    }

    private static func call(_ channel: RPCChannel, timeout: Duration = .seconds(30)) async throws {
        let request = Google_Protobuf_Empty()
        let options = CallOptions(timeout: timeout)
        _ = try await channel.unary(
            Waiting.method,
            request,
            response: Google_Protobuf_Empty.self,
            options: options
        )
    }

    private static func group(_ service: any Service) -> ServiceGroup {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return ServiceGroup(services: [service], logger: logger)
    }

    private static func code(_ call: Task<Void, any Error>) async -> Status.Code? {
        let result = await call.result
        guard case .failure(let error as RPCError) = result else { return nil }
        return error.code
    }

    // MARK: Server

    @Test func `A graceful shutdown of a server lets the call in flight end`() async throws {
        let service = Waiting()
        try await withEventLoopGroup(loopCount: 2, name: "service") { group in
            let server = RPCServer(group: group, router: Self.router(service), configuration: .init())
            let port = try await server.start()
            let channel = try RPCChannel(target: "127.0.0.1:\(port)", group: group)
            let services = Self.group(server)
            let running = Task { try await services.run() }
            let call = Task { try await Self.call(channel) }
            await service.started.wait()
            await services.triggerGracefulShutdown()
            // It drains, and so takes no connection any more.
            try await eventually { (try? await Self.connects(port, group)) == false }
            service.released.open()
            try await call.value
            try await running.value
        }
    }

    /// Whether somebody listens on the port.
    private static func connects(_ port: Int, _ group: EventLoopGroup) async throws -> Bool {
        try await withRPCChannel(target: "127.0.0.1:\(port)", group: group) { channel in
            let unknown = MethodDescriptor(service: "test.v1.Waiting", method: "None")
            let empty = Google_Protobuf_Empty()
            do {
                _ = try await channel.unary(
                    unknown,
                    empty,
                    response: Google_Protobuf_Empty.self,
                    options: .init(timeout: .seconds(5))
                )
                return true
            } catch let error as RPCError {
                return error.code == .unimplemented
            }
        }
    }

    @Test(arguments: [false, true])
    func `Cancellation ends a server's calls at once`(drainsFirst: Bool) async throws {
        let service = Waiting()
        try await withEventLoopGroup(loopCount: 1, name: "service") { group in
            let server = RPCServer(group: group, router: Self.router(service), configuration: .init())
            let port = try await server.start()
            let channel = try RPCChannel(target: "127.0.0.1:\(port)", group: group)
            let services = Self.group(server)
            let running = Task { try await services.run() }
            let call = Task { try await Self.call(channel) }
            await service.started.wait()
            if drainsFirst {
                await services.triggerGracefulShutdown()
                try await eventually { (try? await Self.connects(port, group)) == false }
            }
            running.cancel()
            await service.cancelled.wait()
            #expect(await Self.code(call) == .unavailable)
            _ = await running.result
        }
    }

    @Test func `A server runs once`() async throws {
        try await withEventLoopGroup(loopCount: 1, name: "service") { group in
            let server = RPCServer(group: group, router: Router(), configuration: .init())
            try await server.start()
            await Self.runsOnce(server)
        }
    }

    /// Runs a service twice at once, and again after its end: whichever run comes second is refused, the first goes on.
    private static func runsOnce(_ service: any Service) async {
        await withTaskGroup { runs in
            for _ in 0..<2 {
                runs.addTask { await result(of: service) }
            }
            #expect(isRefusal(await runs.next()))
            runs.cancelAll()
            let first = await runs.next()
            #expect(throws: Never.self) { try first?.get() }
        }
        #expect(isRefusal(await result(of: service)))
    }

    private static func result(of service: any Service) async -> Result<Void, any Error> {
        do {
            return .success(try await service.run())
        } catch {
            return .failure(error)
        }
    }

    private static func isRefusal(_ result: Result<Void, any Error>?) -> Bool {
        guard case .failure(let error as TransportError) = result else { return false }
        return error == .alreadyRun
    }

    @Test func `A server in a closure drains when that returns`() async throws {
        let service = Waiting()
        try await withEventLoopGroup(loopCount: 1, name: "service") { group in
            let call = try await withRPCServer(group: group, router: Self.router(service)) { _, port in
                let channel = try RPCChannel(target: "127.0.0.1:\(port)", group: group)
                let call = Task { try await Self.call(channel) }
                await service.started.wait()
                Task {
                    try await eventually { (try? await Self.connects(port, group)) == false }
                    service.released.open()
                }
                return call
            }
            try await call.value
        }
    }

    @Test func `A server in a closure ends when that throws`() async throws {
        struct Thrown: Error {}
        let service = Waiting()
        try await withEventLoopGroup(loopCount: 1, name: "service") { group in
            await #expect(throws: Thrown.self) {
                try await withRPCServer(group: group, router: Self.router(service)) { _, port in
                    let channel = try RPCChannel(target: "127.0.0.1:\(port)", group: group)
                    _ = Task { try await Self.call(channel) }
                    await service.started.wait()
                    throw Thrown()
                }
            }
            await service.cancelled.wait()
        }
    }

    // MARK: Channel

    @Test func `A graceful shutdown of a channel lets the call in flight end and takes no other`() async throws {
        let service = Waiting()
        try await withEventLoopGroup(loopCount: 2, name: "service") { group in
            try await withRPCServer(group: group, router: Self.router(service)) { _, port in
                let channel = try RPCChannel(target: "127.0.0.1:\(port)", group: group)
                let services = Self.group(channel)
                let running = Task { try await services.run() }
                let call = Task { try await Self.call(channel) }
                await service.started.wait()
                await services.triggerGracefulShutdown()
                for loop in group.loops {
                    try await eventually {
                        let late = Task(executorPreference: loop) {
                            try await Self.call(channel, timeout: .milliseconds(50))
                        }
                        return await Self.code(late) == .unavailable
                    }
                }
                service.released.open()
                try await call.value
                try await running.value
            }
        }
    }

    @Test func `Cancellation ends a channel's calls at once`() async throws {
        let service = Waiting()
        try await withEventLoopGroup(loopCount: 1, name: "service") { group in
            try await withRPCServer(group: group, router: Self.router(service)) { _, port in
                let channel = try RPCChannel(target: "127.0.0.1:\(port)", group: group)
                let running = Task { try await channel.run() }
                let call = Task { try await Self.call(channel) }
                await service.started.wait()
                running.cancel()
                try await running.value
                #expect(await Self.code(call) == .unavailable)
            }
        }
    }

    @Test func `A channel that drains fails the calls that wait for a connection`() async throws {
        try await withEventLoopGroup(loopCount: 1, name: "service") { group in
            let channel = try RPCChannel(target: "127.0.0.1:1", group: group)
            let waiting = Task(executorPreference: group.loops[0]) {
                let options = CallOptions(timeout: .seconds(30), waitForReady: true)
                let empty = Google_Protobuf_Empty()
                _ = try await channel.unary(
                    Waiting.method,
                    empty,
                    response: Google_Protobuf_Empty.self,
                    options: options
                )
            }
            try await group.loops[0].run {}
            await channel.drain()
            #expect(await Self.code(waiting) == .unavailable)
        }
    }

    @Test func `A drain ends at its limit`() async throws {
        let service = Waiting()
        try await withEventLoopGroup(loopCount: 1, name: "service") { group in
            try await withRPCServer(group: group, router: Self.router(service)) { _, port in
                var configuration = ChannelConfiguration()
                configuration.limits.drainTimeout = .milliseconds(50)
                let channel = try RPCChannel(target: "127.0.0.1:\(port)", group: group, configuration: configuration)
                let call = Task { try await Self.call(channel) }
                await service.started.wait()
                await channel.drain()
                await channel.close()
                #expect(await Self.code(call) == .unavailable)
            }
        }
    }

    @Test func `A channel runs once`() async throws {
        try await withEventLoopGroup(loopCount: 1, name: "service") { group in
            let channel = try RPCChannel(target: "127.0.0.1:1", group: group)
            await Self.runsOnce(channel)
        }
    }
}
