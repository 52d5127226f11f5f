import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Sends requests by HTTP/1.1 or 2, on one thread of its own. TLS certificates are verified by the system's roots. Any thread.
public final class HTTPSClient: OutgoingClient {
    /// The most requests that are under way at once; more are refused at once.
    public static let requestsMax = 256
    /// The most connections to one host.
    public static let connectionsPerHostMax = 32

    private let group: MultiThreadedEventLoopGroup
    private let client: HTTPClient
    private let userAgent: String
    private let underWay = Atomic<Int>(0)

    /// A client; ``shutdown()`` must follow.
    ///
    /// - Parameters:
    ///   - userAgent: how it calls itself.
    ///   - connectTimeout: how long a connection may take to come about, TLS included. A request whose time is shorter ends
    ///     sooner.
    public init(userAgent: String, connectTimeout: Duration = .seconds(3)) {
        self.userAgent = userAgent
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        client = HTTPClient(
            eventLoopGroupProvider: .shared(group),
            configuration: Self.configuration(connectTimeout: connectTimeout)
        )
    }

    static func configuration(connectTimeout: Duration) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        // Its spans would carry the whole URL, tokens in the query included, and strangers would be sent our trace ids.
        configuration.tracing.tracer = nil
        configuration.redirectConfiguration = .disallow
        configuration.timeout = HTTPClient.Configuration.Timeout(connect: TimeAmount(connectTimeout))
        // Otherwise a refused connection would be tried again until the time is up. When to try again is the caller's to say.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.connectionsPerHostMax
        configuration.connectionPool.idleTimeout = .seconds(5)
        return configuration
    }

    /// Sends a request and collects the whole answer.
    public func send(_ request: OutgoingRequest) async throws(OutgoingHTTPError) -> OutgoingResponse {
        guard request.url.hasPrefix("https://") || request.url.hasPrefix("http://") else {
            throw OutgoingHTTPError(.url, mayHaveBeenSent: false)
        }
        guard underWay.add(1, ordering: .relaxed).newValue <= Self.requestsMax else {
            underWay.subtract(1, ordering: .relaxed)
            throw OutgoingHTTPError(.overloaded, mayHaveBeenSent: false)
        }
        defer { underWay.subtract(1, ordering: .relaxed) }
        let body: FormBody? = if case .postForm(let fields) = request.method { FormBody(fields) } else { nil }
        do {
            return try await withTimeout(request.timeout) { [self] in try await exchange(request, body) }
        } catch let error as OutgoingHTTPError {
            throw error
        } catch let error {
            throw Self.classify(error, body)
        }
    }

    /// Ends all connections and the thread.
    public func shutdown() async throws {
        try await client.shutdown()
        try await group.shutdownGracefully()
    }

    private func exchange(_ request: OutgoingRequest, _ body: FormBody?) async throws -> OutgoingResponse {
        var outgoing = HTTPClientRequest(url: request.target)
        for header in request.headers { outgoing.headers.add(name: header.name, value: header.value) }
        outgoing.headers.add(name: "user-agent", value: userAgent)
        if let body {
            outgoing.method = .POST
            outgoing.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
            outgoing.body = .stream(body, length: .known(Int64(body.bytes.count)))
        }
        let response = try await client.execute(outgoing, timeout: TimeAmount(request.timeout))
        var bytes: [UInt8] = []
        for try await part in response.body {
            guard bytes.count + part.readableBytes <= request.bodyBytesMax else {
                throw OutgoingHTTPError(.bodyTooLarge, mayHaveBeenSent: true)
            }
            bytes += part.readableBytesView
        }
        return OutgoingResponse(
            status: Int(response.status.code),
            headers: response.headers.map { ($0.name, $0.value) },
            body: bytes
        )
    }

    /// Runs the body for that long at most: the client's own time doesn't reach to the end of an answer's body.
    private func withTimeout<Value: Sendable>(
        _ timeout: Duration,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask(operation: body)
            group.addTask {
                try await Task.sleep(for: timeout)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else { throw TimeIsUp() }
            return value
        }
    }

    private struct TimeIsUp: Error {}

    /// - Parameter body: what was to be sent; it knows whether it was asked for.
    private static func classify(_ error: any Error, _ body: FormBody?) -> OutgoingHTTPError {
        var isConnected = body?.wasTaken ?? true
        let cause: OutgoingHTTPError.Cause
        switch error {
        case is TimeIsUp:
            cause = .timeout
        case is CancellationError:
            cause = .cancelled
        case is NIOConnectionError:
            isConnected = false
            cause = .connection(text(error))
        case let error as HTTPClientError:
            switch error {
            case .invalidURL, .emptyHost, .emptyScheme: return OutgoingHTTPError(.url, mayHaveBeenSent: false)
            case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
                isConnected = false
                cause = .timeout
            case .deadlineExceeded, .readTimeout, .writeTimeout: cause = .timeout
            case .cancelled: cause = .cancelled
            // Its whole description may hold what stood in a header.
            default: cause = .connection(error.shortDescription)
            }
        default:
            cause = .connection(text(error))
        }
        return OutgoingHTTPError(cause, mayHaveBeenSent: isConnected)
    }

    /// The most characters of another library's words.
    private static let causeCharactersMax = 200

    private static func text(_ error: any Error) -> String { String("\(error)".prefix(causeCharactersMax)) }
}

/// A form on its way. It is asked for when there is a connection and the head was written: until then no server can have
/// done what the request asks.
private final class FormBody: AsyncSequence, Sendable {
    let bytes: [UInt8]
    private let isTaken = Atomic<Bool>(false)

    init(_ fields: [OutgoingRequest.Field]) {
        bytes = Array(FormEncoding.encode(fields).utf8)
    }

    /// Whether it was asked for.
    var wasTaken: Bool { isTaken.load(ordering: .acquiring) }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var rest: FormBody?

        mutating func next() async -> ByteBuffer? {
            guard let body = rest else { return nil }
            rest = nil
            body.isTaken.store(true, ordering: .releasing)
            return ByteBuffer(bytes: body.bytes)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: self) }
}
