import Foundation
import Hummingbird
import Logging
import NIOPosix

/// What the route answers: about as large as our answer to the same question.
struct Answer: ResponseCodable {
    let message: String
}

/// A bare JSON route on Hummingbird with one event loop. Prints its port and serves until it is killed.
///
/// It checks no token and writes no log line and no metric: ours is measured with all of those.
@main
enum JSONPeer {
    static func main() async throws {
        let router = Router()
        router.get("small") { _, _ in Answer(message: String(repeating: "s", count: 50)) }
        var logger = Logger(label: "json-peer")
        logger.logLevel = .error
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                print("listening on \(channel.localAddress?.port ?? 0)")
                fflush(nil)  // it is a pipe, which stdio would keep the line from
            },
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup(numberOfThreads: 1)),
            logger: logger
        )
        try await application.runService()
    }
}
