import Connect
import HTTP
import RPC
import SwiftProtobuf
import Synchronization
import Testing

/// Flow control of a call: which bytes it holds, waits for and gives back. Each handler's end is reported once.
struct FlowTests {
    static let proto = "application/connect+proto"

    /// A handler whose bidirectional method reads when the test allows it.
    final class Gate: Sendable {
        private let taken = Mutex(0)
        var takenCount: Int { taken.withLock { $0 } }
        let steps: AsyncStream<Void>
        private let step: AsyncStream<Void>.Continuation
        init() { (steps, step) = AsyncStream.makeStream(of: Void.self) }
        func next() { step.yield() }
        func count() { taken.withLock { $0 += 1 } }

        var handler: ConnectHandler {
            var router = Router()
            router.clientStreaming(EchoMethods.method("Join", .clientStreaming)) {
                (requests: MessageReader<EchoMethods.Message>, _) -> EchoMethods.Message in
                var iterator = requests.makeAsyncIterator()
                for await _ in self.steps {
                    guard try await iterator.next() != nil else { break }
                    self.count()
                }
                return EchoMethods.message("\(self.takenCount)")
            }
            return ConnectHandler(router)
        }
    }

    @Test func `Complete messages that nobody has read are not given back`() async throws {
        let gate = Gate()
        let exchange = ScriptedExchange(Call("Join", Self.proto))
        exchange.begin(gate.handler)
        let message = try Envelope(name: String(repeating: "a", count: 1000)).bytes
        exchange.send(message + message + message)
        #expect(exchange.state.consumed == 0)
        for count in 1...3 {
            gate.next()
            #expect(try await exchange.waits { $0.consumed == count * message.count })
        }
        #expect(exchange.state.kept == 0)
        exchange.end()
        gate.next()
        #expect(try await exchange.waits { $0.isFinished })
        #expect(gate.takenCount == 3)
    }

    @Test func `An incomplete message is given back and counted, until it is read`() async throws {
        let gate = Gate()
        let exchange = ScriptedExchange(Call("Join", Self.proto))
        exchange.begin(gate.handler)
        let message = try Envelope(name: String(repeating: "a", count: 1000)).bytes
        for byte in message.dropLast() { exchange.send([byte]) }
        #expect(exchange.state.consumed == message.count - 1)
        #expect(exchange.state.kept == message.count - 1)
        exchange.send([message[message.count - 1]])
        #expect(exchange.state.kept == message.count - 1)
        gate.next()
        #expect(try await exchange.waits { $0.kept == 0 && $0.consumed == message.count })
        // The time limit applies to a message that has begun, and only to that.
        #expect(exchange.state.bodyDeadlines == [false, true, false])
        exchange.end()
        gate.next()
        #expect(try await exchange.waits { $0.isFinished })
    }

    @Test(arguments: 1...40)
    func `All bytes are given back in the end, in any pieces`(seed: Int) async throws {
        var random = SplitMix(seed: UInt64(seed))
        let messages = try (0..<20).map { _ in
            try Envelope(name: String(repeating: "x", count: Int.random(in: 0...300, using: &random))).bytes
        }
        let exchange = ScriptedExchange(Call("Each", Self.proto))
        exchange.begin()
        var rest = messages.flatMap(\.self)[...]
        let total = rest.count
        while !rest.isEmpty {
            let count = Int.random(in: 1...400, using: &random)
            exchange.send(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
            if Bool.random(using: &random) { await Task.yield() }
        }
        exchange.end()
        #expect(try await exchange.waits { $0.isFinished && $0.handlersEnded == 1 })
        #expect(exchange.state.consumed == total)
        #expect(exchange.state.kept == 0)
        #expect(Envelope.all(in: exchange.state.body)?.dropLast().flatMap(\.bytes) == messages.flatMap(\.self))
    }

    @Test(arguments: [("Echo", "application/proto"), ("Count", proto), ("Join", proto)])
    func `A client that makes the server hold too much is refused`(name: String, type: String) async throws {
        let exchange = ScriptedExchange(Call(name, type))
        exchange.setKeptMax(100)
        exchange.begin()
        for byte in try Envelope(name: String(repeating: "a", count: 1000)).bytes { exchange.send([byte]) }
        #expect(exchange.state.kept <= 101)
        exchange.end()
        #expect(try await exchange.waits { $0.isFinished && $0.handlersEnded == 1 })
        #expect(exchange.state.code == .resourceExhausted)
        #expect(exchange.state.status == (name == "Echo" ? 429 : 200))
    }

    @Test func `A client that does not read makes the handler wait`() async throws {
        let exchange = ScriptedExchange(Call("Count", Self.proto))
        exchange.begin()
        exchange.setRoom(false)
        exchange.send(try Envelope(name: "9").bytes)
        exchange.end()
        #expect(try await exchange.waits { !$0.waiting.isEmpty })
        #expect(Envelope.all(in: exchange.state.body)?.count == 1)
        exchange.setRoom(true)
        #expect(try await exchange.waits { $0.isFinished && $0.handlersEnded == 1 })
        #expect(Envelope.all(in: exchange.state.body)?.count == 10)
    }

    @Test(arguments: ["Wait", "Count", "Join", "Each"], [true, false])
    func `A client that disconnects ends the handler, at any moment`(name: String, beforeEnd: Bool) async throws {
        let exchange = ScriptedExchange(Call(name, name == "Wait" ? "application/proto" : Self.proto))
        exchange.begin()
        exchange.setRoom(false)
        if name != "Wait" { exchange.send(try Envelope(name: "9").bytes) }
        if !beforeEnd { exchange.end() }
        exchange.leave(beforeEnd: beforeEnd)
        #expect(try await exchange.waits { $0.handlersEnded == 1 })
        #expect(!exchange.state.isFinished || name == "Join")
    }

    @Test(arguments: [("Wait", "application/proto"), ("Join", proto), ("Each", proto), ("Echo", "application/proto")])
    func `The deadline answers if the handler doesn't`(name: String, type: String) async throws {
        let exchange = ScriptedExchange(Call(name, type))
        exchange.begin()
        if name == "Wait" { exchange.end() }
        exchange.passDeadline()
        exchange.end()
        #expect(try await exchange.waits { $0.isFinished && $0.handlersEnded == 1 })
        #expect(exchange.state.code == .deadlineExceeded)
    }

    @Test func `Bytes after the answer do no harm`() async throws {
        for (name, type) in [("Echo", "application/json"), ("Join", Self.proto), ("Count", Self.proto)] {
            let exchange = ScriptedExchange(Call(name, type).with(["connect-timeout-ms": "x"]))
            exchange.begin()
            for _ in 0..<10 { exchange.send([UInt8](repeating: 0xff, count: 20_000)) }
            exchange.passDeadline()
            exchange.end()
            #expect(try await exchange.waits { $0.isFinished && $0.handlersEnded == 1 })
            #expect(exchange.state.code == .invalidArgument)
        }
    }

    @Test func `Each message has its own time limit, even if none ends with a piece`() async throws {
        let gate = Gate()
        let exchange = ScriptedExchange(Call("Join", Self.proto))
        exchange.begin(gate.handler)
        let message = try Envelope(name: "abc").bytes
        exchange.send(message + message.prefix(1))
        for _ in 0..<2 { exchange.send(Array(message.dropFirst()) + message.prefix(1)) }
        // A message that continues gets no additional time.
        exchange.send(Array(message[1..<3]))
        #expect(exchange.state.bodyDeadlines == [false, true, true, true])
        exchange.send(Array(message[3...]))
        #expect(exchange.state.bodyDeadlines == [false, true, true, true, false])
        exchange.end()
        for _ in 0..<5 { gate.next() }
        #expect(try await exchange.waits { $0.isFinished && $0.handlersEnded == 1 })
        #expect(gate.takenCount == 4)
    }

    @Test(arguments: 1...9)
    func `No more base64 bytes are given back than arrived`(pieceLength: Int) async throws {
        let gate = Gate()
        let exchange = ScriptedExchange(Call("Join", "application/grpc-web-text"))
        exchange.begin(gate.handler)
        let message = try Envelope(name: "abcd").bytes
        let text = Base64.encode(message + message, padded: true)
        var sentCount = 0
        while sentCount < text.count {
            let piece = text[sentCount...].prefix(pieceLength)
            exchange.send(Array(piece))
            sentCount += piece.count
            #expect(exchange.state.consumed <= sentCount)
        }
        exchange.end()
        for _ in 0..<3 { gate.next() }
        #expect(try await exchange.waits { $0.isFinished && $0.handlersEnded == 1 })
        #expect(gate.takenCount == 2)
        #expect(exchange.state.consumed == text.count && exchange.state.kept == 0)
    }

    @Test(arguments: [("Echo", "application/proto"), ("Echo", "application/grpc-web"), ("Join", proto)])
    func `An exchange that ends as its deadline is set waits for no handler`(name: String, type: String) async throws {
        let timeout: KeyValuePairs =
            type == "application/grpc-web" ? ["grpc-timeout": "1S"] : ["connect-timeout-ms": "1000"]
        let exchange = ScriptedExchange(Call(name, type).with(timeout))
        exchange.takeMemory()
        exchange.begin()
        exchange.end()
        #expect(try await exchange.waits { $0.handlersEnded == 1 })
    }

    @Test func `A whole body in one piece is read in place`() async throws {
        let body = try EchoMethods.message("a").serializedBytes() as [UInt8]
        let exchange = ScriptedExchange(Call("Echo", "application/proto"), contentLength: body.count)
        exchange.begin()
        exchange.send(body)
        #expect(try await exchange.waits { $0.isFinished })
        #expect(exchange.state.kept == 0)
        #expect(exchange.state.body == body)
        exchange.end()
        #expect(try await exchange.waits { $0.handlersEnded == 1 })
    }

    @Test(arguments: [
        ("Echo", "application/json", Status.Code.invalidArgument), ("Echo", "application/proto", .ok),
        ("None", "application/json", .unimplemented), ("Echo", "text/plain", .unimplemented), ("Join", proto, .ok),
        ("Count", proto, .unimplemented), ("Echo", "application/grpc-web", .unimplemented),
    ])
    func `Each call is counted with its method and status`(name: String, type: String, code: Status.Code) async throws {
        let exchange = ScriptedExchange(Call(name, type))
        exchange.begin()
        exchange.end()
        #expect(try await exchange.waits { $0.isFinished && $0.handlersEnded == 1 })
        #expect(exchange.state.began?.path == (name == "None" ? nil : "/test.Echo/\(name)"))
        #expect(exchange.state.code == code)
    }

    @Test func `A refused request's short body is read before the answer, and no more of it`() {
        let exchange = ScriptedExchange(Call("None"), contentLength: 3)
        exchange.begin()
        exchange.send([1, 2])
        #expect(!exchange.state.isFinished)
        exchange.send([3])
        exchange.end()
        #expect(exchange.state.isFinished)
        #expect(exchange.state.consumed == 3)
        let long = ScriptedExchange(Call("None"), contentLength: UnreadBody.byteCountMax + 1)
        long.begin()
        #expect(long.state.isFinished)
        let endless = ScriptedExchange(Call("None"))
        endless.begin()
        for _ in 0..<5 { endless.send([UInt8](repeating: 0, count: 20_000)) }
        #expect(endless.state.isFinished)
        #expect(endless.state.handlersEnded == 1)
    }
}

/// A generator of repeatable numbers from a seed.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
