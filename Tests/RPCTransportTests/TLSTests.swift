import FoundationEssentials
import RPC
import RPCTransport
import SwiftProtobuf
import Testing

/// TLS with certificates that the `openssl` command makes for each test.
@Suite(.timeLimit(.minutes(2)))
struct TLSTests {
    @Test func callsOverTLS() async throws {
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

    @Test func aForeignAuthorityIsNotTrusted() async throws {
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

    @Test func theNameMustBeTheCertificates() async throws {
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

    @Test func mutualTLSRefusesAClientWithoutACertificate() async throws {
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

    @Test func newCertificatesAreReadWithoutARestart() async throws {
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
            try replace(server.certificateChainFile, with: replacement.certificateChainFile)
            try replace(server.privateKeyFile, with: replacement.privateKeyFile)
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

    @Test func unusableFilesAreNamed() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "test")
        #expect {
            try RPCChannel(
                target: "127.0.0.1:1",
                group: group,
                configuration: .init(tls: TLSConfiguration(authoritiesFile: "/nowhere/ca.pem"))
            )
        } throws: { "\($0)".contains("/nowhere/ca.pem") }
        await group.shutdown()
    }

    private func replace(_ file: String?, with other: String?) throws {
        let (file, other) = (try #require(file), try #require(other))
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.copyItem(atPath: other, toPath: file)
    }
}
