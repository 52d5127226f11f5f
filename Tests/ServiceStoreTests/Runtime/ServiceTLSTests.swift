import API
import RPC
import RPCTransport
import TestCertificates
import TestWaits
import Testing

@testable import ServiceKit
@testable import ServiceStore

/// A service with mutual TLS, on real sockets.
@Suite(.timeLimit(.minutes(5)))
struct ServiceTLSTests {
    private static let keys = ServiceKeys(program: "identity", listenPort: 0)

    /// A running service: its address, its configuration, and how to make it read its certificates again.
    private struct Running: Sendable {
        let port: Int
        let values: [String: String]
        let reload: AsyncStream<Void>.Continuation
        let authority: TestAuthority
        let certificate: TLSConfiguration
    }

    private func serving(
        allow: String,
        _ body: @escaping @Sendable (Running) async throws -> Void
    ) async throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        let certificate = try authority.issue("identity", names: "DNS:identity")
        let values = [
            "VESTIBULE_EVENT_LOOPS": "1", "VESTIBULE_DRAIN_LIMIT": "1s", "VESTIBULE_LOG_CALLS": "none",
            "VESTIBULE_DATABASE_HOST": "/nonexistent", "VESTIBULE_IDENTITY_TLS_ALLOW": allow,
            "VESTIBULE_IDENTITY_TLS_CERTIFICATE_FILE": try #require(certificate.certificateChainFile),
            "VESTIBULE_IDENTITY_TLS_KEY_FILE": try #require(certificate.privateKeyFile),
            "VESTIBULE_IDENTITY_TLS_CLIENT_CA_FILE": authority.file, "VESTIBULE_SERVICES_CA_FILE": authority.file,
        ]
        let configuration = try Configuration.testing(keys: Self.keys.all, program: "identity", values)
        let runtime = ServiceRuntime(keys: Self.keys, configuration: configuration, migrations: [])
        let (stops, stop) = AsyncStream.makeStream(of: Void.self)
        let (reloads, reload) = AsyncStream.makeStream(of: Void.self)
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { listening.finish() }
                try await runtime.serve(
                    { _ in ServiceParts(services: []) },
                    until: { for await _ in stops {} },
                    reloads: reloads,
                    onListening: { listening.yield($0) }
                )
            }
            for await port in ports {
                tasks.addTask {
                    defer { stop.finish() }
                    try await body(
                        Running(
                            port: port,
                            values: values,
                            reload: reload,
                            authority: authority,
                            certificate: certificate
                        )
                    )
                }
                break
            }
            try await tasks.waitForAll()
        }
    }

    /// The code of a health check's result, OK for an answer.
    private func code(_ channel: RPCChannel) async -> Status.Code? {
        do {
            _ = try await HealthClient(channel).check(.init(), options: CallOptions(timeout: .seconds(5)))
            return .ok
        } catch {
            return error.code
        }
    }

    private func withChannel(
        _ running: Running,
        _ tls: TLSConfiguration?,
        _ body: (RPCChannel) async throws -> Void
    ) async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "client")
        var configuration = ChannelConfiguration(tls: tls)
        configuration.serverName = "identity"
        let channel = try RPCChannel(target: "127.0.0.1:\(running.port)", group: group, configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(channel)) } catch { result = .failure(error) }
        await channel.close()
        await group.shutdown()
        try result.get()
    }

    @Test func `Accepts calls of peers on the allow list, and of nobody else`() async throws {
        try await serving(allow: "gateway grpc.health.v1.Health/Check") { running in
            func shown(_ name: String) throws -> TLSConfiguration {
                var shown = try running.authority.issue(name, names: "DNS:\(name)")
                shown.authoritiesFile = running.authority.file
                return shown
            }
            try await withChannel(running, try shown("gateway")) { #expect(await code($0) == .ok) }
            try await withChannel(running, try shown("profile")) { #expect(await code($0) == .permissionDenied) }
            let bare = TLSConfiguration(authoritiesFile: running.authority.file)
            try await withChannel(running, bare) { #expect(await code($0) == .unavailable) }
            try await withChannel(running, nil) { #expect(await code($0) == .unavailable) }
        }
    }

    @Test func `The health check uses TLS, with the service's own certificate if needed`() async throws {
        try await serving(allow: "identity grpc.health.v1.Health/Check") { running in
            let probe = try HealthProbe.configuration(program: "identity", path: nil, environment: running.values)
            #expect(probe.serverName == "identity")
            try await withChannel(running, probe.tls) { #expect(await code($0) == .ok) }
        }
        let clear = try HealthProbe.configuration(program: "identity", path: nil, environment: [:])
        #expect(clear.tls == nil)
    }

    @Test func `Reads new certificates without dropping a connection`() async throws {
        try await serving(allow: "gateway *") { running in
            let next = try TestAuthority()
            defer { next.remove() }
            var shown = try running.authority.issue("gateway", names: "DNS:gateway")
            shown.authoritiesFile = running.authority.file
            try await withChannel(running, shown) { former in
                #expect(await code(former) == .ok)
                // The certificate is from another authority from here on: the former channel could not connect again.
                let replacement = try next.issue("identity", names: "DNS:identity")
                var trusting = shown
                trusting.authoritiesFile = next.file
                try TestAuthority.replace(running.certificate, with: replacement)
                running.reload.yield()
                try await eventually {
                    var status: Status.Code?
                    try await withChannel(running, trusting) { status = await code($0) }
                    return status == .ok
                }
                #expect(await code(former) == .ok, "on the existing connection")
                try await withChannel(running, shown) { #expect(await code($0) == .unavailable) }
            }
        }
    }

    @Test func `Errors of all files prevent the start`() async throws {
        let configuration = try Configuration.testing(
            keys: Self.keys.all,
            program: "identity",
            [
                "VESTIBULE_IDENTITY_TLS_CERTIFICATE_FILE": "/nowhere/a.pem",
                "VESTIBULE_IDENTITY_TLS_KEY_FILE": "/nowhere/a.key", "VESTIBULE_SERVICES_CA_FILE": "/nowhere/ca.pem",
            ]
        )
        let runtime = ServiceRuntime(keys: Self.keys, configuration: configuration, migrations: [])
        let error = await #expect(throws: ConfigurationErrors.self) {
            try await runtime.serve({ _ in ServiceParts(services: []) }, until: {})
        }
        #expect(error?.faults.count == 2)
    }

    @Test
    func `With certificates connections end after an hour, so that no old certificate stays in use`() throws {
        let keys = ServiceKeys(program: "identity", listenPort: 0)
        func age(_ values: [String: String]) throws -> Duration {
            let configuration = try Configuration.testing(keys: keys.all, program: "identity", values)
            return ServiceRuntime(keys: keys, configuration: configuration, migrations: [])
                .serverConfiguration.limits.connectionAgeMax
        }
        #expect(try age(["VESTIBULE_IDENTITY_TLS_CERTIFICATE_FILE": "/c"]) == .seconds(3600))
        #expect(try age([:]) == .zero)
    }
}
