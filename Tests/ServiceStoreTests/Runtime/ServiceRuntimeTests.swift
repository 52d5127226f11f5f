import API
import Logging
import Postgres
import RPC
import RPCTransport
import ServiceKit
import SwiftProtobuf
import Synchronization
import TestDatabases
import TestWaits
import Testing

@testable import ServiceStore

/// A stand-in for any service, whose Check waits until it is released, to have a call in flight.
private struct SlowService: RPCService {
    static let method = MethodDescriptor(service: "test.v1.SlowService", method: "Wait")
    let started = Gate()
    let released = Gate()

    func register(in router: inout Router) {
        router.unary(Self.method, request: HealthV1.HealthCheckRequest.self) { _, _ in
            started.open()
            await released.wait()
            return HealthV1.HealthCheckResponse()
        }
    }
}

/// Opens once.
private final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, waiters: [CheckedContinuation<Void, Never>])>((false, []))

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

struct ServiceRuntimeTests {
    private static let keys = ServiceKeys(program: "identity", listenPort: 0)
    private static let migration = Migration(
        number: 1,
        name: "things",
        sql: "CREATE TABLE things (id bigint PRIMARY KEY)"
    )

    private func runtime(_ values: [String: String]) throws -> ServiceRuntime {
        let common = ["VESTIBULE_EVENT_LOOPS": "1", "VESTIBULE_DRAIN_LIMIT": "5s", "VESTIBULE_LOG_CALLS": "none"]
        let configuration = try Configuration.testing(
            keys: Self.keys.all,
            program: "identity",
            common.merging(values) { $1 }
        )
        return ServiceRuntime(keys: Self.keys, configuration: configuration, migrations: [Self.migration])
    }

    private func databaseValues() async throws -> [String: String] {
        let database = try await TestDatabase.fresh(schema: "identity")
        return [
            "VESTIBULE_DATABASE_HOST": database.socketDirectory, "VESTIBULE_DATABASE_PORT": "\(database.port)",
            "VESTIBULE_DATABASE_NAME": database.database, "VESTIBULE_IDENTITY_DATABASE_USER": database.user,
            "VESTIBULE_IDENTITY_DATABASE_PASSWORD": database.password, "VESTIBULE_IDENTITY_MIGRATE": "true",
        ]
    }

    private static let noDatabase = ["VESTIBULE_DATABASE_HOST": "/nonexistent"]

    /// Runs a service until the body has returned.
    private func serving(
        _ values: [String: String],
        parts: ServiceParts,
        onEnvironment: @escaping @Sendable (ServiceEnvironment) -> Void = { _ in },
        _ body: @escaping @Sendable (HostPort, _ stop: @Sendable () -> Void) async throws -> Void
    ) async throws {
        let runtime = try runtime(values)
        let stop = Gate()
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { listening.finish() }
                try await runtime.serve(
                    { environment in
                        onEnvironment(environment)
                        return parts
                    },
                    until: { await stop.wait() },
                    onListening: { listening.yield($0) }
                )
            }
            for await port in ports {
                let address = HostPort(host: "127.0.0.1", port: port)
                tasks.addTask {
                    defer { stop.open() }
                    try await body(address) { stop.open() }
                }
                break
            }
            try await tasks.waitForAll()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `Migrates, serves, becomes ready, and stops`() async throws {
        let environment = Mutex<ServiceEnvironment?>(nil)
        let backgroundEnded = Mutex(false)
        let background: @Sendable () async throws -> Void = {
            #expect(EventLoop.current != nil)
            try? await Task.sleep(for: .seconds(600))
            backgroundEnded.withLock { $0 = true }
        }
        try await serving(
            databaseValues(),
            parts: ServiceParts(services: [SlowService()], background: [BackgroundWork(background)]),
            onEnvironment: { made in environment.withLock { $0 = made } }
        ) { address, _ in
            try await eventually { await HealthProbe.check(address: address, timeout: .seconds(1)) }
            let database = try #require(environment.withLock { $0 }).database
            #expect(try await database.query("SELECT id FROM things").count == 0)
        }
        #expect(backgroundEnded.withLock { $0 })
    }

    @Test(.timeLimit(.minutes(5)))
    func `A schema that is too old, or was changed, is not served; a newer one is`() async throws {
        let values = try await databaseValues().merging(["VESTIBULE_IDENTITY_MIGRATE": "false"]) { $1 }
        // It ends at once, and before its parts are made.
        await #expect(throws: MigrationError.behind(number: 1, name: "things")) {
            try await serving(
                values,
                parts: ServiceParts(services: [SlowService()]),
                onEnvironment: { _ in Issue.record("the parts of a service without its tables were made") }
            ) { _, _ in }
        }
        // Migrated meanwhile, by a newer version.
        var newer = try runtime(values)
        newer = ServiceRuntime(
            keys: newer.keys,
            configuration: newer.configuration,
            migrations: newer.migrations + [Migration(number: 2, name: "more", sql: "CREATE TABLE more (n int)")]
        )
        try await newer.migrate()
        try await serving(values, parts: ServiceParts(services: [SlowService()])) { address, _ in
            try await eventually { await HealthProbe.check(address: address, timeout: .seconds(1)) }
        }
        // The older version also starts where it would have migrated.
        let migrating = values.merging(["VESTIBULE_IDENTITY_MIGRATE": "true"]) { $1 }
        try await serving(migrating, parts: ServiceParts(services: [SlowService()])) { address, _ in
            try await eventually { await HealthProbe.check(address: address, timeout: .seconds(1)) }
        }
        let edited = ServiceRuntime(
            keys: Self.keys,
            configuration: try runtime(values).configuration,
            migrations: [Migration(number: 1, name: "things", sql: "CREATE TABLE things (id uuid PRIMARY KEY)")]
        )
        await #expect(throws: MigrationError.changed(number: 1, name: "things")) {
            try await edited.withDatabase { database in
                try await SchemaCheck(edited.migrations, schema: "identity").run(on: database)
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `Without its database it listens and reports that it isn't serving`() async throws {
        try await serving(Self.noDatabase, parts: ServiceParts(services: [SlowService()])) { address, _ in
            let group = try EventLoopGroup(loopCount: 1, name: "client")
            let channel = try RPCChannel(target: address.description, group: group)
            let options = CallOptions(timeout: .seconds(5))
            let status = try await HealthClient(channel).check(.init(), options: options).status
            await channel.close()
            await group.shutdown()
            #expect(status == .notServing)
            #expect(await !HealthProbe.check(address: address, timeout: .seconds(1)))
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func `Reflection lists its methods, unless it is off`(isOn: Bool) async throws {
        let values = Self.noDatabase.merging(["VESTIBULE_REFLECTION": "\(isOn)"]) { $1 }
        try await serving(values, parts: ServiceParts(services: [SlowService()])) { address, _ in
            let group = try EventLoopGroup(loopCount: 1, name: "client")
            let channel = try RPCChannel(target: address.description, group: group)
            let answer = try? await ServerReflectionClient(channel).serverReflectionInfo { writer, reader in
                try await writer.write(.with { $0.listServices = "" })
                writer.finish()
                return try await reader.first { _ in true }
            }
            await channel.close()
            await group.shutdown()
            let names = answer?.listServicesResponse.service.map(\.name) ?? []
            #expect(names.contains(SlowService.method.service) == isOn)
            #expect(names.contains(HealthMethods.serviceName) == isOn)
        }
    }

    @Test func `The port answers to no foreign host name`() throws {
        #expect(try runtime(Self.noDatabase).serverConfiguration.serverNames == [])
        let named = Self.noDatabase.merging(["VESTIBULE_IDENTITY_SERVER_NAMES": "identity.example.internal"]) { $1 }
        #expect(try runtime(named).serverConfiguration.serverNames == ["identity.example.internal"])
        let origins = Self.noDatabase.merging(["VESTIBULE_IDENTITY_ORIGINS": "http://a"]) { $1 }
        #expect(try runtime(origins).faults.map(\.key) == ["VESTIBULE_IDENTITY_ORIGINS"])
    }

    @Test(.timeLimit(.minutes(5)))
    func `A call in flight is finished before the end`() async throws {
        let slow = SlowService()
        try await serving(Self.noDatabase, parts: ServiceParts(services: [slow])) { address, stop in
            let group = try EventLoopGroup(loopCount: 1, name: "client")
            let channel = try RPCChannel(target: address.description, group: group)
            async let answer = channel.unary(
                SlowService.method,
                HealthV1.HealthCheckRequest(),
                response: HealthV1.HealthCheckResponse.self,
                options: CallOptions(timeout: .seconds(20))
            )
            await slow.started.wait()
            stop()
            try await Task.sleep(for: .milliseconds(50))
            slow.released.open()
            _ = try await answer
            await channel.close()
            await group.shutdown()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `Endless calls are asked to end before the server waits for them`() async throws {
        let endless = SlowService()
        let parts = ServiceParts(services: [endless], beginDrain: { endless.released.open() })
        try await serving(Self.noDatabase, parts: parts) { address, stop in
            let group = try EventLoopGroup(loopCount: 1, name: "client")
            let channel = try RPCChannel(target: address.description, group: group)
            async let answer = channel.unary(
                SlowService.method,
                HealthV1.HealthCheckRequest(),
                response: HealthV1.HealthCheckResponse.self,
                options: CallOptions(timeout: .seconds(20))
            )
            await endless.started.wait()
            stop()
            // In time, and not by closing the connection after a drain that took too long.
            _ = try await answer
            await channel.close()
            await group.shutdown()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `Work that fails ends the service with its error`() async throws {
        struct Broken: Error {}
        await #expect(throws: Broken.self) {
            try await runtime(Self.noDatabase).serve(
                { _ in ServiceParts(services: [], background: [BackgroundWork { throw Broken() }]) },
                until: { try? await Task.sleep(for: .seconds(600)) }
            )
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A start fails if the port is in use, or if the database is down for migrations`() async throws {
        try await serving(Self.noDatabase, parts: ServiceParts(services: [])) { address, _ in
            let second = try runtime(Self.noDatabase.merging(["VESTIBULE_IDENTITY_LISTEN": "\(address)"]) { $1 })
            await #expect(throws: TransportError.self) {
                try await second.serve({ _ in ServiceParts(services: []) }, until: {})
            }
        }
        await #expect(throws: MigrationError.self) { try await runtime(Self.noDatabase).migrate() }
    }
}
