import API
import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import RPCTransport
import ServiceKit
import Synchronization
import TestCertificates
import Testing

@testable import GatewayService

/// The program on real sockets: HTTP in front, gRPC behind.
struct GatewayServerTests {
    /// Runs a gateway whose services are at `address` while `body` talks to it.
    private static func run(
        services address: String,
        _ values: [String: String] = [:],
        _ body: @escaping @Sendable (SocketClient) async throws -> Void
    ) async throws {
        try await serve(services: address, values) { try await body(SocketClient(port: $0)) }
    }

    /// Runs a gateway whose services are at `address` while `body` talks to its port.
    private static func serve(
        services address: String,
        _ values: [String: String] = [:],
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let configuration = try Configuration.testing(
            keys: GatewayServer.configurationKeys,
            program: GatewayServer.programName,
            [
                "VESTIBULE_GATEWAY_LISTEN": "127.0.0.1:0", "VESTIBULE_IDENTITY_ADDRESS": address,
                "VESTIBULE_PROFILE_ADDRESS": address, "VESTIBULE_INVITES_ADDRESS": address,
                "VESTIBULE_GATEWAY_REQUEST_TIMEOUT": "30s",
            ].merging(values) { $1 }
        )
        let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
        let talk = Mutex<Task<Void, any Error>?>(nil)
        try await GatewayServer(configuration: configuration).serve(
            stop: { for await _ in stopped {} },
            onListening: { port in
                let task = Task {
                    defer { stop.finish() }
                    try await body(port)
                }
                talk.withLock { $0 = task }
            }
        )
        try await #require(talk.withLock { $0 }).value
    }

    /// Whether the gateway is ready within half a minute: a service has a second to say so, in which a busy machine may do nothing.
    private static func becomesReady(_ client: SocketClient) async throws -> Bool {
        for _ in 0..<60 {
            if try await client.send(.get, "/readyz").status == .ok { return true }
            try await Task.sleep(for: .milliseconds(500))
        }
        return false
    }

    @Test func `Requests reach services over sockets`() async throws {
        let stubs = StubServices()
        let group = try RPCTransport.EventLoopGroup(loopCount: 1, name: "stubs")
        let services = RPCServer(group: group, router: stubs.router, configuration: ServerConfiguration())
        let port = try await services.start()
        try await Self.run(services: "127.0.0.1:\(port)") { client in
            #expect(try await Self.becomesReady(client))
            let signedIn = try await client.send(
                .post,
                "/auth/google",
                headers: [.contentType: "application/json"],
                body: #"{"id_token":"t","nonce":"n"}"#
            )
            #expect(signedIn.status == .ok)
            let me = try await client.send(
                .get,
                "/me",
                headers: [.authorization: "Bearer \(StubServices.accessToken)"]
            )
            #expect(me.status == .ok)
            let body = try JSONObject(parsing: me.body)
            #expect(body["user_id"]?.string == StubServices.userID)
        }
        await services.shutdown()
        await group.shutdown()
    }

    @Test func `Readiness is asked by mutual TLS`() async throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        var own = try authority.issue("services", names: "IP:127.0.0.1")
        own.authoritiesFile = authority.file
        let shown = try authority.issue("gateway", names: "DNS:gateway")
        let group = try RPCTransport.EventLoopGroup(loopCount: 1, name: "stubs")
        let services = RPCServer(group: group, router: StubServices().router, configuration: .init(tls: own))
        let address = "127.0.0.1:\(try await services.start())"
        let tls = [
            "VESTIBULE_SERVICES_CA_FILE": authority.file,
            "VESTIBULE_GATEWAY_TLS_CLIENT_CERTIFICATE_FILE": try #require(shown.certificateChainFile),
            "VESTIBULE_GATEWAY_TLS_CLIENT_KEY_FILE": try #require(shown.privateKeyFile),
        ]
        try await Self.run(services: address, tls) { (client) async throws -> Void in
            #expect(try await Self.becomesReady(client))
        }
        try await Self.run(services: address, ["VESTIBULE_SERVICES_CA_FILE": authority.file]) { client in
            let ready = try await client.send(.get, "/readyz")
            #expect(ready.status == .serviceUnavailable, "without a certificate")
        }
        await services.shutdown()
        await group.shutdown()
    }

    @Test func `Its own port speaks TLS`() async throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        let own = try authority.issue("gateway", names: "IP:127.0.0.1")
        let files = [
            "VESTIBULE_GATEWAY_TLS_CERTIFICATE_FILE": try #require(own.certificateChainFile),
            "VESTIBULE_GATEWAY_TLS_KEY_FILE": try #require(own.privateKeyFile),
        ]
        try await Self.serve(services: "127.0.0.1:1", files) { (port) async throws -> Void in
            try await withEventLoopGroup(loopCount: 1, name: "client") { group in
                var configuration = ChannelConfiguration()
                configuration.tls = TLSConfiguration(authoritiesFile: authority.file)
                let channel = try RPCChannel(target: "127.0.0.1:\(port)", group: group, configuration: configuration)
                let health = try await HealthClient(channel).check(.init(), options: CallOptions(timeout: .seconds(30)))
                #expect(health.status == .notServing, "no service is there")
            }
            let clear = try? await SocketClient(port: port).exchange(["GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"])
            #expect(clear?.hasPrefix("HTTP/") != true, "a port with TLS never guesses")
        }
    }

    @Test func `A certificate of its own makes browsers come back by HTTPS`() throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        let own = try authority.issue("gateway", names: "DNS:gateway")
        func seconds(_ values: [String: String]) throws -> Int64 {
            let keys = GatewayServer.configurationKeys
            let configuration = try Configuration.testing(keys: keys, program: GatewayServer.programName, values)
            return try GatewaySettings(configuration).routes.strictTransportSeconds
        }
        let files = [
            "VESTIBULE_GATEWAY_TLS_CERTIFICATE_FILE": try #require(own.certificateChainFile),
            "VESTIBULE_GATEWAY_TLS_KEY_FILE": try #require(own.privateKeyFile),
        ]
        #expect(try seconds(files) == 180 * 86_400)
        #expect(try seconds(files.merging(["VESTIBULE_GATEWAY_STRICT_TRANSPORT": "0s"]) { $1 }) == 0)
        #expect(try seconds([:]) == 0)
        #expect(try seconds(["VESTIBULE_GATEWAY_STRICT_TRANSPORT": "60s"]) == 60)
    }

    @Test func `Files of TLS that cannot be used keep it from starting`() async throws {
        let error = await #expect(throws: ConfigurationErrors.self) {
            try await Self.run(services: "127.0.0.1:1", ["VESTIBULE_SERVICES_CA_FILE": "/nowhere/ca.pem"]) { _ in }
        }
        #expect(error?.faults.map(\.key) == ["VESTIBULE_SERVICES_CA_FILE"])
    }

    @Test func `The count of proxies is no longer understood`() async throws {
        let error = await #expect(throws: ConfigurationErrors.self) {
            try await Self.run(services: "127.0.0.1:1", ["VESTIBULE_GATEWAY_PROXY_COUNT": "1"]) { _ in }
        }
        #expect(error?.faults.map(\.key) == ["VESTIBULE_GATEWAY_PROXY_COUNT"])
        #expect(error?.description.contains("VESTIBULE_GATEWAY_TRUSTED_PROXIES") == true)
    }

    @Test func `Limits and proxies are configured`() async throws {
        let values = [
            "VESTIBULE_GATEWAY_ADDRESS_PER_SECOND": "1", "VESTIBULE_GATEWAY_ADDRESS_BURST": "2",
            "VESTIBULE_GATEWAY_TRUSTED_PROXIES": "10.0.0.0/8, 127.0.0.1/32",
        ]
        try await Self.run(services: "127.0.0.1:1", values) { (client) async throws -> Void in
            func status(_ address: String) async throws -> Int {
                try await client.send(.get, "/healthz", headers: [.forwardedFor: address]).status.code
            }
            // The limit's clock is the machine's: a slow one may let in a third, but hardly fifty in a row.
            var statuses: [Int] = []
            while statuses.count < 50 && statuses.last != 429 { statuses.append(try await status("192.0.2.1")) }
            #expect(statuses.prefix(2) == [200, 200])
            #expect(statuses.last == 429)
            #expect(try await status("192.0.2.2, 10.1.1.1") == 200)
        }
    }

    @Test func `Services that are down are answered with 503`() async throws {
        try await Self.run(services: "127.0.0.1:1") { client in
            let alive = try await client.send(.get, "/healthz")
            #expect(alive.status == .ok)
            let ready = try await client.send(.get, "/readyz")
            #expect(ready.status == .serviceUnavailable)
            let me = try await client.send(.get, "/me", headers: [.authorization: "Bearer a"])
            #expect(me.status == .serviceUnavailable)
            #expect(me.headers[.retryAfter] == "1")
            #expect(me.headers[.contentType] == "application/problem+json")
        }
    }
}
