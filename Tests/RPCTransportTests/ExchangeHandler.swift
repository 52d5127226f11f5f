import HTTP
import HTTPTypes
import RPC
import Synchronization

/// Answers requests according to their paths.
final class ExchangeHandler: HTTPHandler {
    /// Events, for tests to check.
    struct Record: Sendable {
        var heads: [HTTPRequestHead] = []
        var peers: [String] = []
        var endings: [HTTPBodyFailure?] = []
        var cancellations = 0
        var writersEnded = 0
        var running = 0
    }
    let record = Mutex(Record())

    func begin(_ exchange: HTTPExchange) -> (any HTTPBodyReceiver)? {
        record.withLock {
            $0.heads.append(exchange.head)
            $0.peers.append(exchange.peer.address)
            $0.running += 1
        }
        if let fault = exchange.head.fault {
            exchange.respond(status: 400, text: fault.rawValue)
            ended(exchange)
            return nil
        }
        switch exchange.head.path {
        case "/fixed":
            exchange.respond(status: 200, text: "hello\n")
            ended(exchange)
            return nil
        case "/head":
            exchange.respond(status: 200, text: Self.describe(exchange.head))
            ended(exchange)
            return nil
        case "/empty":
            exchange.respond(status: 204, fields: Metadata(), body: .init(start: nil, count: 0))
            ended(exchange)
            return nil
        case "/unsendable":
            exchange.respond(status: 200, fields: Metadata(["connection": "close"]), body: .init(start: nil, count: 0))
            ended(exchange)
            return nil
        case "/forgotten":
            ended(exchange)
            return nil
        case "/echo": return Collector(exchange, self)
        case "/slow-echo": return Collector(exchange, self, delay: .milliseconds(5))
        default: return start(exchange)
        }
    }

    func ended(_ exchange: HTTPExchange) {
        record.withLock { $0.running -= 1 }
        exchange.handlerEnded()
    }

    /// What runs in a task.
    private func start(_ exchange: HTTPExchange) -> (any HTTPBodyReceiver)? {
        let receiver =
            exchange.head.path == "/hold" || exchange.head.path == "/deadline" ? Watcher(exchange, self) : nil
        let task = Task.immediate(executorPreference: exchange.executor) { [self] in
            switch exchange.head.path {
            case "/later":
                try? await Task.sleep(for: .milliseconds(2))
                exchange.respond(status: 200, text: "later\n")
            case "/stream": await stream(exchange)
            case "/hold", "/deadline":
                if exchange.head.path == "/deadline" { exchange.setDeadline(.after(.milliseconds(30))) }
                try? await Task.sleep(for: .seconds(60))
                if Task.isCancelled { record.withLock { $0.cancellations += 1 } }
            default: exchange.respond(status: 404, text: "no such page\n")
            }
            ended(exchange)
        }
        exchange.didStart(task)
        return receiver
    }

    /// Sends the number and size of chunks in the query, such as `3x65536`.
    private func stream(_ exchange: HTTPExchange) async {
        let numbers = (exchange.head.query ?? "").split(separator: "x").compactMap { Int($0) }
        guard numbers.count == 2, exchange.sendHead(status: 200, fields: Metadata(), contentLength: nil) else {
            return exchange.reset()
        }
        for index in 0..<numbers[0] {
            do {
                try await exchange.send(MessageBuffer(repeating: UInt8(97 + index % 26), count: numbers[1]))
            } catch {
                record.withLock { $0.writersEnded += 1 }
                return
            }
        }
        exchange.finish(trailers: Metadata(["x-count": "\(numbers[0])"]))
    }

    private static func describe(_ head: HTTPRequestHead) -> String {
        var text = "\(head.version) \(head.method.rawValue) \(head.target) \(head.authority)\n"
        for (name, value) in head.fields { text += "\(name): \(value)\n" }
        return text
    }
}

/// Collects a body, and answers with it.
private final class Collector: HTTPBodyReceiver {
    private let exchange: HTTPExchange
    private let handler: ExchangeHandler
    private let delay: Duration?
    private let bytes = Mutex<[UInt8]>([])

    init(_ exchange: HTTPExchange, _ handler: ExchangeHandler, delay: Duration? = nil) {
        self.exchange = exchange
        self.handler = handler
        self.delay = delay
    }

    func receive(_ received: UnsafeRawBufferPointer) {
        bytes.withLock { $0.append(contentsOf: received) }
        if !exchange.consume(byteCount: received.count, keeps: true) {
            exchange.respond(status: 413, text: "too large\n")
        }
    }

    func receiveEnd(_ failure: HTTPBodyFailure?) {
        handler.record.withLock { $0.endings.append(failure) }
        guard failure == nil else {
            exchange.respond(status: 400, text: "\(failure == .timeout ? "timeout" : "malformed")\n")
            return handler.ended(exchange)
        }
        guard let delay else { return answer() }
        let task = Task.immediate(executorPreference: exchange.executor) {
            try? await Task.sleep(for: delay)
            answer()
        }
        exchange.didStart(task)
    }

    private func answer() {
        bytes.withLock { bytes in
            bytes.withUnsafeBytes { exchange.respond(status: 200, fields: Metadata(), body: $0) }
        }
        handler.ended(exchange)
    }

    func deadlinePassed() {}
}

/// Records the events of an exchange that is answered at its deadline or never.
private final class Watcher: HTTPBodyReceiver {
    private let exchange: HTTPExchange
    private let handler: ExchangeHandler

    init(_ exchange: HTTPExchange, _ handler: ExchangeHandler) {
        self.exchange = exchange
        self.handler = handler
    }

    func receive(_ bytes: UnsafeRawBufferPointer) { exchange.consume(byteCount: bytes.count, keeps: false) }
    func receiveEnd(_ failure: HTTPBodyFailure?) { handler.record.withLock { $0.endings.append(failure) } }
    func deadlinePassed() { exchange.respond(status: 504, text: "too late\n") }
}

extension HTTPExchange {
    fileprivate func respond(status: Int, text: String) {
        var text = text
        text.withUTF8 {
            respond(status: status, fields: Metadata(["content-type": "text/plain"]), body: UnsafeRawBufferPointer($0))
        }
    }
}
