import Logging
import RPC
import RPCTransport
import ServiceLifecycle
import SessionVerifier
import UnixSignals

/// A service of your own, whose callers are users of the app. Arguments: its port, identity's address, the issuer of the tokens.
@main
enum SampleServer {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let port = Int(arguments[1]) else {
            fatalError("usage: sample-server PORT IDENTITY ISSUER")
        }
        try await serve(port: port, identity: arguments[2], issuer: arguments[3])
    }

    // cut: serve
    /// Serves until SIGTERM or SIGINT.
    ///
    /// - Parameters:
    ///   - identity: The address of identity, for all its replicas, such as `identity.internal:7001`.
    ///   - issuer: `VESTIBULE_IDENTITY_ISSUER`.
    static func serve(port: Int, identity: String, issuer: String) async throws {
        try await withEventLoopGroup(loopCount: 2, name: "sample") { group in
            let channel = try RPCChannel(target: identity, group: group)
            let sessions = SessionVerifier(
                channel: channel,
                configuration: SessionVerifierConfiguration(issuer: issuer, audience: "vestibule")
            )
            var router = Router()
            let logger = Logger(label: "sample")
            router.add(SignedInHealth(sessions: sessions, logger: logger))
            let server = RPCServer(group: group, router: router, configuration: ServerConfiguration(port: port))
            let services = ServiceGroup(
                // Stopped from the last to the first: calls in progress are verified to the end.
                services: [channel, sessions, server],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
            try await services.run()
        }
    }
    // cut end
}
