import OutgoingHTTP
import RPC
import RPCTransport
import TestCertificates
import Testing

/// TLS, against `openssl s_server` and against our own server.
struct TrustTests {
    private static let form = OutgoingRequest.Method.postForm([("code", "secret")])

    @Test(.timeLimit(.minutes(5))) func `A server with an untrusted certificate gets no request`() async throws {
        try await Self.withServer(names: "DNS:localhost,IP:127.0.0.1") { server, _ in
            let error = try await Self.ask("https://localhost:\(server.port)/token", trust: .system())
            #expect(error?.mayHaveBeenSent == false)
            #expect(Self.words(error).contains("certificate problem"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func `A server with another's certificate gets no request`() async throws {
        try await Self.withServer(names: "DNS:other.example") { server, trust in
            for host in ["localhost", "127.0.0.1"] {
                let error = try await Self.ask("https://\(host):\(server.port)/token", trust: trust)
                #expect(error?.mayHaveBeenSent == false)
                #expect(Self.words(error).contains("subject name"))
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `TLS before 1.2 is not spoken`() async throws {
        let old = ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"]
        try await Self.withServer(names: "DNS:localhost", old) { server, trust in
            let error = try await Self.ask("https://localhost:\(server.port)/token", trust: trust)
            #expect(error?.mayHaveBeenSent == false)
            #expect(Self.words(error).contains("version"))
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [[], ["-tls1_2"]])
    func `A private authority is trusted for its servers`(arguments: [String]) async throws {
        try await Self.withServer(names: "DNS:localhost,IP:127.0.0.1", arguments) { server, trust in
            try await HTTPSClientTests.withClient(trust: trust) { client in
                for host in ["localhost", "127.0.0.1"] {
                    let request = OutgoingRequest(
                        .get(),
                        "https://\(host):\(server.port)/",
                        timeout: .seconds(30),
                        bodyBytesMax: 100_000
                    )
                    let answer = try await client.send(request)
                    #expect(answer.status == 200)
                }
            }
        }
    }

    @Test func `A file without certificates is not an authority`() {
        for file in ["/nowhere/at/all", "/etc/hostname"] {
            #expect(throws: TrustStore.Unreadable.self) { try TrustStore(file: file) }
        }
    }

    /// Our own server accepts only HTTP/2 under TLS, and refuses requests that aren't gRPC by the status.
    @Test(.timeLimit(.minutes(5))) func `Servers that speak HTTP 2 get many requests on one connection`() async throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        try await withEventLoopGroup(loopCount: 1, name: "outgoing") { group in
            var configuration = ServerConfiguration(host: "127.0.0.1", port: 0)
            configuration.tls = try authority.issue("server", names: "DNS:localhost")
            let trust = try TrustStore(file: authority.file)
            try await withRPCServer(group: group, router: Router(), configuration: configuration) { _, port in
                var limits = HTTPSClient.Limits()
                limits.idleTime = .seconds(600)
                let client = HTTPSClient(
                    userAgent: "test",
                    group: group,
                    limits: limits,
                    connectTimeout: .seconds(30),
                    trust: trust
                )
                let form = HTTPSClientTests.request(Self.form, "https://localhost:\(port)/token")
                try await withThrowingTaskGroup { tasks in
                    for _ in 0..<50 { tasks.addTask { try await client.send(form).status } }
                    for try await status in tasks { #expect(status == 404) }
                }
            }
            let statistics = group.loops[0].statistics
            #expect(statistics.serverConnections.opened == 1)
            #expect(statistics.serverStreams.opened == 50)
        }
    }

    private static func ask(_ url: String, trust: TrustStore) async throws -> OutgoingHTTPError? {
        var error: OutgoingHTTPError?
        try await HTTPSClientTests.withClient(trust: trust) { client in
            error = await HTTPSClientTests.error { try await client.send(HTTPSClientTests.request(form, url)) }
        }
        return error
    }

    private static func words(_ error: OutgoingHTTPError?) -> String {
        guard case .connection(let text) = error?.cause else { return "\(String(describing: error))" }
        return text.lowercased()
    }

    private static func withServer(
        names: String,
        _ arguments: [String] = [],
        _ body: (TLSServer, TrustStore) async throws -> Void
    ) async throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        let server = try TLSServer(authority.issue("server", names: names), arguments)
        defer { server.stop() }
        try await body(server, TrustStore(file: authority.file))
    }
}
