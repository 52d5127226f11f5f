import API
import APIDoubles
import JOSE
import RPC
import RPCTransport
import SwiftProtobuf
import Testing

/// Runs the service of SessionVerifier's page before an identity that the test plays.
@Suite(.timeLimit(.minutes(5)))
struct SignedInTests {
    private static let sessionID = "0190c2a5-7f00-7000-8000-000000000002"

    @Test func `The service of the page serves who is signed in, and nobody else`() async throws {
        let key = try SigningKey.generateP256()
        let (ends, end) = AsyncStream<String>.makeStream()
        let identity = IdentityServiceDouble()
        identity.set { answers in
            answers.getJWKS = { _, _ in .with { $0.jwksJson = KeySet([key]).json.text } }
            answers.watchRevocations = { _, responses, _ in
                func tell(_ sessions: [String]) async throws {
                    try await responses.write(
                        .with {
                            $0.sessionIds = sessions
                            $0.caughtUp = true
                            $0.heartbeatMilliseconds = 60_000
                            $0.toldAtMilliseconds = .max
                        }
                    )
                }
                try await tell([])
                for await session in ends { try await tell([session]) }
            }
        }
        let token = try key.signedToken(
            claims: [
                "iss": "https://api.example.com", "aud": "vestibule", "sub": "0190c2a5-7f00-7000-8000-000000000001",
                "sid": .string(Self.sessionID), "exp": .integer(.max / 2), "auth_time": 1_700_000_000,
            ],
            encodedHeader: key.encodedHeader(type: "at+jwt")
        )
        try await withEventLoopGroup(loopCount: 1, name: "test") { group in
            var router = Router()
            router.add(identity)
            try await withRPCServer(group: group, router: router) { _, identityPort in
                let port = try await withRPCServer(group: group, router: Router()) { _, port in port }
                let serving = Task { try await serveSignedIn(port: port, identity: "127.0.0.1:\(identityPort)") }
                try await withRPCChannel(target: "127.0.0.1:\(port)", group: group) { channel in
                    func code(_ token: String?) async -> Status.Code {
                        var options = CallOptions(timeout: .seconds(10), waitForReady: true)
                        if let token { options.metadata = Metadata(["authorization": "Bearer \(token)"]) }
                        do throws(RPCError) {
                            _ = try await HealthClient(channel).check(.init(), options: options)
                            return .ok
                        } catch {
                            return error.code
                        }
                    }
                    #expect(await code(nil) == .unauthenticated)
                    #expect(await code("none") == .unauthenticated)
                    // Until the stream is there identity is asked, which this one doesn't answer.
                    while await code(token) == .unavailable, !Task.isCancelled {}
                    #expect(await code(token) == .ok)
                    end.yield(Self.sessionID)
                    while await code(token) == .ok, !Task.isCancelled {}
                    #expect(await code(token) == .unauthenticated)
                }
                end.finish()
                serving.cancel()
                _ = await serving.result
            }
        }
    }
}
