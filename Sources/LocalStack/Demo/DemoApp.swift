import JOSE
import OutgoingHTTP
import RPCTransport
import ServiceKit

/// An app of a running stack: calls the gateway, and the simulator in the place of a provider.
struct DemoApp: Sendable {
    let gateway: DemoClient
    let simulator: DemoClient

    /// An app of the stack that runs with this configuration, read with `StackKeys.all`. Its requests use the loops of the group.
    init(configuration: Configuration, group: EventLoopGroup) {
        let http = HTTPSClient(userAgent: "vestibule-demo", group: group)
        gateway = DemoClient(http: http, base: "http://\(configuration[StackKeys.gateway].reachable)")
        simulator = DemoClient(http: http, base: "http://\(configuration[StackKeys.simulator].reachable)")
    }

    /// Signs in with the simulated Google. The same person gets the same account again.
    func signInWithGoogle(_ person: DemoPerson) async throws -> DemoSession {
        let nonce = Hex.encode(SecureRandom.bytes(16))
        let simulated = try await simulator.send(
            "POST",
            "/control/google/sign-in",
            body: [
                "client_id": .string(DevelopmentProviders.googleClientID),
                "nonce": .string(Hex.encode(SHA256.hash(nonce))), "person": .object(person.simulated),
            ],
            expecting: 200
        )
        return try DemoSession(
            try await gateway.send(
                "POST",
                "/auth/google",
                body: ["id_token": .string(try simulated.string("id_token")), "nonce": .string(nonce)],
                expecting: 200
            )
        )
    }
}
