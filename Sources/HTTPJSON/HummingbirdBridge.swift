import HTTP
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import RPC
import Synchronization

// Between Hummingbird's requests and ours, until the routes stand on our own transport.

/// Hummingbird's context of a request.
struct EdgeContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let box = AnswerBox()
    /// Ours, once the middleware has made it.
    var route: RouteContext?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// Closes the connection a little later: after the answer has gone out, however much the client still sends.
    func closeConnectionSoon() {
        let channel = channel
        channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
    }
}

extension Request {
    init(_ incoming: Hummingbird.Request) {
        var fields = Metadata()
        for field in incoming.headers { fields.add(field.name.canonicalName, field.value) }
        self.init(
            HTTPExchange(
                head: HTTPRequestHead(
                    method: incoming.method,
                    target: incoming.uri.string,
                    authority: incoming.head.authority ?? "",
                    fields: fields
                ),
                peer: PeerInfo(address: "")
            )
        )
    }
}

extension RouteContext {
    init(_ incoming: Hummingbird.Request, _ edge: EdgeContext) {
        let body = incoming.body
        let channel = edge.channel
        self.init(
            logger: edge.logger,
            chunks: AsyncThrowingStream { continuation in
                let task = Task {
                    do {
                        for try await chunk in body { continuation.yield(Array(chunk.readableBytesView)) }
                        continuation.finish()
                    } catch {
                        continuation.finish(throwing: error)
                    }
                }
                continuation.onTermination = { _ in task.cancel() }
            },
            drop: { channel.close(promise: nil) }
        )
        if let address = channel.remoteAddress, let host = address.ipAddress, let port = address.port {
            peerAddress = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }
}

extension RouteParameters {
    init(_ parameters: Parameters) {
        self.init(names: parameters.map { String($0.key) }, values: parameters.map(\.value))
    }
}

extension Hummingbird.Response {
    init(_ answer: Response) {
        var headers = answer.headers
        if headers[.contentType] == nil, let type = answer.contentType { headers[.contentType] = type }
        self.init(
            status: answer.status,
            headers: headers,
            body: answer.body.bytes.isEmpty ? .init() : .init(byteBuffer: ByteBuffer(bytes: answer.body.bytes))
        )
    }
}

/// Carries a route's answer past Hummingbird's router.
final class AnswerBox: Sendable {
    let answer = Mutex<Response?>(nil)
}
