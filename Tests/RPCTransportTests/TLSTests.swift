import FoundationEssentials
import RPC
import RPCTransport
import SwiftProtobuf
import TestCertificates
import Testing

/// TLS with certificates that the `openssl` command makes for each test.
@Suite(.timeLimit(.minutes(5)))
struct TLSTests {
    @Test func `Calls go over TLS`() async throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        let server = try authority.issue("server", names: "DNS:localhost,IP:127.0.0.1")
        try await withFixture(
            server: .init(tls: server),
            client: .init(tls: TLSConfiguration(authoritiesFile: authority.file))
        ) { (fixture) async throws -> Void in
            #expect(try await fixture.echo([1, 2, 3]) == [1, 2, 3])
            let large = [UInt8](repeating: 9, count: 1 << 20)
            #expect(try await fixture.echo(large) == large)
        }
    }

    @Test func `A foreign authority is not trusted`() async throws {
        let (authority, other) = (try TestAuthority(), try TestAuthority())
        defer {
            authority.remove()
            other.remove()
        }
        let server = try authority.issue("server", names: "IP:127.0.0.1")
        try await withFixture(
            server: .init(tls: server),
            client: .init(tls: TLSConfiguration(authoritiesFile: other.file))
        ) { (fixture) async throws -> Void in
            let error = await #expect(throws: RPCError.self) { try await fixture.echo([1]) }
            #expect(error?.code == .unavailable)
        }
    }

    @Test func `The name must be the certificate's`() async throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        let server = try authority.issue("server", names: "DNS:elsewhere.example")
        var client = ChannelConfiguration(tls: TLSConfiguration(authoritiesFile: authority.file))
        try await withFixture(server: .init(tls: server), client: client) { (fixture) async throws -> Void in
            await #expect(throws: RPCError.self) { try await fixture.echo([1]) }
        }
        client.serverName = "elsewhere.example"
        try await withFixture(server: .init(tls: server), client: client) { (fixture) async throws -> Void in
            #expect(try await fixture.echo([1]) == [1])
        }
    }

    @Test func `Mutual TLS refuses a client without a certificate`() async throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        var server = try authority.issue("server", names: "IP:127.0.0.1")
        server.authoritiesFile = authority.file
        try await withFixture(
            server: .init(tls: server),
            client: .init(tls: TLSConfiguration(authoritiesFile: authority.file))
        ) { (fixture) async throws -> Void in
            await #expect(throws: RPCError.self) { try await fixture.echo([1]) }
        }
        var client = try authority.issue("client", names: "DNS:gateway")
        client.authoritiesFile = authority.file
        try await withFixture(server: .init(tls: server), client: .init(tls: client)) {
            (fixture) async throws -> Void in
            #expect(try await fixture.echo([1]) == [1])
            let names = try await fixture.text(EchoService.peerNames, "")
            #expect(names == "gateway")
        }
    }

    @Test func `New certificates are read without a restart`() async throws {
        let (first, second) = (try TestAuthority(), try TestAuthority())
        defer {
            first.remove()
            second.remove()
        }
        let server = try first.issue("server", names: "IP:127.0.0.1")
        try await withFixture(
            server: .init(tls: server),
            client: .init(tls: TLSConfiguration(authoritiesFile: first.file))
        ) { (fixture) async throws -> Void in
            #expect(try await fixture.echo([1]) == [1])
            let replacement = try second.issue("server", names: "IP:127.0.0.1")
            try TestAuthority.replace(server, with: replacement)
            try await fixture.server.reloadCertificates()
            #expect(try await fixture.echo([2]) == [2], "the connection that was there goes on")
            let group = try EventLoopGroup(loopCount: 1, name: "new")
            let channel = try RPCChannel(
                target: "127.0.0.1:\(fixture.port)",
                group: group,
                configuration: .init(tls: TLSConfiguration(authoritiesFile: second.file))
            )
            let answer = try await channel.unary(
                EchoService.echo,
                EchoService.Bytes(),
                response: EchoService.Bytes.self,
                options: .init()
            )
            #expect(answer.value.isEmpty)
            await channel.close()
            await group.shutdown()
        }
    }

    @Test func `Unusable files are named`() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "test")
        #expect {
            try RPCChannel(
                target: "127.0.0.1:1",
                group: group,
                configuration: .init(tls: TLSConfiguration(authoritiesFile: "/nowhere/ca.pem"))
            )
        } throws: { "\($0)".contains("/nowhere/ca.pem: No such file or directory") }
        await group.shutdown()
    }

    @Test func `Certificates that cannot be read leave the former in use`() async throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        let server = try authority.issue("server", names: "IP:127.0.0.1")
        let client = TLSConfiguration(authoritiesFile: authority.file)
        try await withFixture(server: .init(tls: server), client: .init(tls: client)) {
            (fixture) async throws -> Void in
            let stranger = try authority.issue("stranger", names: "IP:127.0.0.1")
            // A certificate without its key.
            try TestAuthority.replace(
                TLSConfiguration(certificateChainFile: server.certificateChainFile),
                with: stranger
            )
            await #expect(throws: TransportError.self) { try await fixture.server.reloadCertificates() }
            #expect(try await fixture.echo([1]) == [1], "this is the channel's first connection")
        }
    }

    @Test func `A client's certificates are read again too`() async throws {
        let (first, second) = (try TestAuthority(), try TestAuthority())
        defer {
            first.remove()
            second.remove()
        }
        var server = try first.issue("server", names: "IP:127.0.0.1")
        server.authoritiesFile = first.file
        var client = try first.issue("client", names: "DNS:former")
        client.authoritiesFile = first.file + ".copy"
        try Data(contentsOf: URL(filePath: first.file)).write(to: URL(filePath: first.file + ".copy"))
        try await withFixture(server: .init(tls: server), client: .init(tls: client)) {
            (fixture) async throws -> Void in
            #expect(try await fixture.text(EchoService.peerNames, "") == "former")
            var next = try second.issue("server", names: "IP:127.0.0.1")
            next.authoritiesFile = second.file
            var shown = try second.issue("client", names: "DNS:latter")
            shown.authoritiesFile = second.file
            try TestAuthority.replace(client, with: shown)
            try await fixture.channel.reloadCertificates()
            #expect(try await fixture.text(EchoService.peerNames, "") == "former", "the connection that was there")
            await fixture.server.shutdown()
            var router = Router()
            router.add(EchoService())
            let replacement = RPCServer(
                group: fixture.serverGroup,
                router: router,
                configuration: .init(port: fixture.port, tls: next)
            )
            try await replacement.start()
            let options = CallOptions(timeout: .seconds(10), waitForReady: true)
            #expect(try await fixture.text(EchoService.peerNames, "", options: options) == "latter")
            try TestAuthority.replace(
                TLSConfiguration(privateKeyFile: client.privateKeyFile),
                with: try second.issue("stranger", names: "DNS:stranger")
            )
            await #expect(throws: TransportError.self) { try await fixture.channel.reloadCertificates() }
            await replacement.shutdown()
        }
    }
}
