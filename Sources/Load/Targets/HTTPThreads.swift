import AsyncHTTPClient
import NIOCore
import NIOPosix

/// An HTTP client on threads of its own.
struct HTTPThreads: Sendable {
    let client: HTTPClient
    private let group: MultiThreadedEventLoopGroup

    /// A client that keeps that many connections to a host.
    init(threadCount: Int, connectionsPerHost: Int) {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        configuration.redirectConfiguration = .disallow
        group = MultiThreadedEventLoopGroup(numberOfThreads: threadCount)
        client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
    }

    /// Ends everything. What goes wrong then is of no interest any more.
    func close() async {
        try? await client.shutdown()
        try? await group.shutdownGracefully()
    }
}
