import RPC
import RPCTransport
import SwiftProtobuf
import TestCertificates
import Testing

/// The allow list over mutual TLS, with the names that certificates really carry.
@Suite(.timeLimit(.minutes(5)))
struct PeerAllowListTransportTests {
    private static let rules = """
        spiffe://example/gateway \(EchoService.name)/Echo
        spiffe://example/gateway \(EchoService.name)/Count
        profile.internal \(EchoService.name)/*
        """

    private func code(_ body: () async throws -> Void) async throws -> Status.Code? {
        do {
            try await body()
            return nil
        } catch let error as RPCError {
            return error.code
        }
    }

    private func echo(_ channel: RPCChannel) async throws {
        _ = try await channel.unary(
            EchoService.echo,
            EchoService.Bytes(),
            response: EchoService.Bytes.self,
            options: .init(timeout: .seconds(10))
        )
    }

    private func names(_ channel: RPCChannel) async throws {
        _ = try await channel.unary(
            EchoService.peerNames,
            EchoService.Text(),
            response: EchoService.Text.self,
            options: .init(timeout: .seconds(10))
        )
    }

    private func stream(_ channel: RPCChannel, _ method: MethodDescriptor) async throws {
        try await channel.serverStreaming(
            method,
            EchoService.Number(),
            response: EchoService.Number.self,
            options: .init(timeout: .seconds(10))
        ) { reader in
            for try await _ in reader {}
        }
    }

    @Test func `Each peer may call what its names allow`() async throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        var server = try authority.issue("server", names: "IP:127.0.0.1")
        server.authoritiesFile = authority.file
        let group = try EventLoopGroup(loopCount: 1, name: "allow")
        var router = Router(interceptors: [try PeerAllowList(parsing: Self.rules)])
        router.add(EchoService())
        let listening = RPCServer(group: group, router: router, configuration: .init(tls: server))
        let port = try await listening.start()
        func channel(_ name: String, _ names: String) throws -> RPCChannel {
            var client = try authority.issue(name, names: names)
            client.authoritiesFile = authority.file
            return try RPCChannel(target: "127.0.0.1:\(port)", group: group, configuration: .init(tls: client))
        }
        let gateway = try channel("gateway", "DNS:gateway.internal,URI:spiffe://example/gateway")
        let profile = try channel("profile", "DNS:profile.internal")
        // An address is no name, and the common name, which says the right thing, counts for nothing.
        let stranger = try channel("profile.internal", "IP:127.0.0.1")

        #expect(try await code { try await echo(gateway) } == nil)
        #expect(try await code { try await names(gateway) } == .permissionDenied)
        #expect(try await code { try await stream(gateway, EchoService.count) } == nil)
        #expect(try await code { try await stream(gateway, EchoService.flood) } == .permissionDenied)
        #expect(try await code { try await echo(profile) } == nil)
        #expect(try await code { try await names(profile) } == nil)
        #expect(try await code { try await echo(stranger) } == .permissionDenied)

        for channel in [gateway, profile, stranger] { await channel.close() }
        await listening.shutdown()
        await group.shutdown()
    }
}
