import FoundationEssentials
import RPC
import RPCTransport
import SwiftProtobuf
import Synchronization
import TestWaits
import Testing

/// Calls with streams of messages, over sockets and in process.
@Suite(.timeLimit(.minutes(5)))
struct StreamingTests {
    typealias Number = EchoService.Number
    typealias Bytes = EchoService.Bytes

    /// Runs a test over both transports.
    func withChannels(
        probe: EchoService.Probe? = nil,
        _ body: (any ClientChannel) async throws -> Void
    ) async throws {
        var router = Router()
        router.add(EchoService(probe: probe))
        try await body(InProcessChannel(router))
        try await withFixture(probe: probe) { (fixture) async throws -> Void in try await body(fixture.channel) }
    }

    static func number(_ value: Int64) -> Number {
        var number = Number()
        number.value = value
        return number
    }

    @Test func `A client-streaming call takes all that is sent`() async throws {
        try await withChannels { (channel) async throws -> Void in
            for count in [0, 1, 1000] as [Int64] {
                let sum = try await channel.clientStreaming(
                    EchoService.sum,
                    request: Number.self,
                    response: Number.self,
                    options: .init()
                ) { writer in
                    for value in 0..<count { try await writer.write(Self.number(value)) }
                }
                #expect(sum.value == count * (count - 1) / 2)
            }
        }
    }

    @Test func `A server-streaming call is answered in order`() async throws {
        try await withChannels { (channel) async throws -> Void in
            for count in [0, 1, 5000] as [Int64] {
                let values = try await channel.serverStreaming(
                    EchoService.count,
                    Self.number(count),
                    response: Number.self,
                    options: .init()
                ) { reader in
                    var values: [Int64] = []
                    for try await number in reader { values.append(number.value) }
                    return values
                }
                #expect(values == Array(0..<count))
            }
        }
    }

    @Test func `An error comes after the messages`() async throws {
        try await withChannels { (channel) async throws -> Void in
            let seen = Counter()
            let error = await #expect(throws: RPCError.self) {
                try await channel.serverStreaming(
                    EchoService.count,
                    Self.number(13),
                    response: Number.self,
                    options: .init()
                ) { reader in
                    for try await _ in reader { seen.add() }
                }
            }
            #expect(error?.code == .outOfRange)
            #expect(seen.value == 13)
        }
    }

    @Test func `Bidirectional talk takes turns`() async throws {
        try await withChannels { (channel) async throws -> Void in
            let answers = try await channel.stream(
                EchoService.talk,
                request: Bytes.self,
                response: Bytes.self,
                options: .init()
            ) { writer, reader in
                var iterator = reader.makeAsyncIterator()
                var sizes: [Int] = []
                for size in [1, 100, 70_000, 0, 300_000] {
                    var message = Bytes()
                    message.value = .init(repeating: UInt8(truncatingIfNeeded: size), count: size)
                    try await writer.write(message)
                    guard let answer = try await iterator.next() else { break }
                    if answer == message { sizes.append(size) }
                }
                writer.finish()
                let end = try await iterator.next()
                return (sizes, end == nil)
            }
            #expect(answers.0 == [1, 100, 70_000, 0, 300_000])
            #expect(answers.1)
        }
    }

    @Test func `A reader that stops reading stops the server`() async throws {
        let probe = EchoService.Probe()
        try await withFixture(probe: probe) { (fixture) async throws -> Void in
            try await fixture.channel.serverStreaming(
                EchoService.flood,
                Self.number(0),
                response: Bytes.self,
                options: .init(timeout: .seconds(20))
            ) { reader in
                var iterator = reader.makeAsyncIterator()
                _ = try await iterator.next()
                try await Task.sleep(for: .milliseconds(300))
                let sent = await probe.startedCount
                try await Task.sleep(for: .milliseconds(300))
                #expect(await probe.startedCount == sent, "nothing is sent while nobody reads")
                #expect(sent < 2000, "about a window and a queue, not more")
                for _ in 0..<5000 { _ = try await iterator.next() }
                #expect(await probe.startedCount > sent)
            }
            try await eventually("leaving the call ends it") { await probe.cancelledCount == 1 }
        }
    }

    @Test func `A server that does not read stops the client`() async throws {
        let probe = EchoService.Probe()
        try await withFixture(probe: probe) { (fixture) async throws -> Void in
            let sent = Counter()
            let error = await #expect(throws: RPCError.self) {
                try await fixture.channel.clientStreaming(
                    EchoService.ignore,
                    request: Bytes.self,
                    response: Number.self,
                    options: .init(timeout: .milliseconds(800))
                ) { writer in
                    var message = Bytes()
                    message.value = .init(repeating: 1, count: 1000)
                    while true {
                        try await writer.write(message)
                        sent.add()
                    }
                }
            }
            #expect(error?.code == .deadlineExceeded)
            #expect(sent.value < 2000)
        }
    }

    @Test func `A writer that is cancelled goes on, and so does the call`() async throws {
        let probe = EchoService.Probe()
        try await withChannels(probe: probe) { (channel) async throws -> Void in
            await probe.reset()
            let counts = try await channel.stream(
                EchoService.hold,
                request: Bytes.self,
                response: Number.self,
                options: .init(timeout: .seconds(60))
            ) { writer, reader in
                let written = Counter()
                // The handler reads nothing yet: the writer gets stuck, each time.
                for _ in 0..<20 {
                    let task = Task {
                        while true {
                            try await writer.write(Self.bytes(20_000))
                            written.add()
                        }
                    }
                    let before = written.value
                    let end = Deadline.after(.milliseconds(20))
                    while !end.hasPassed, written.value <= before + 1000 { await Task.yield() }
                    task.cancel()
                    let error = await #expect(throws: RPCError.self) { try await task.value }
                    #expect(error?.code == .cancelled)
                }
                await probe.started()
                writer.finish()
                var iterator = reader.makeAsyncIterator()
                return (written.value, Int(try await iterator.next()?.value ?? -1))
            }
            #expect(counts.0 < 60, "what is queued stays bounded, however often the writer is cancelled")
            // The write that was cancelled first was sent; those after it may not have been.
            #expect(counts.0...counts.0 + 1 ~= counts.1)
        }
    }

    @Test func `A handler's write that is cancelled goes on, and so does the call`() async throws {
        let probe = EchoService.Probe()
        try await withChannels(probe: probe) { (channel) async throws -> Void in
            await probe.reset()
            let values = try await channel.serverStreaming(
                EchoService.impatient,
                Self.number(0),
                response: Bytes.self,
                options: .init(timeout: .seconds(60))
            ) { reader in
                try await eventually { await probe.startedCount == 1 }
                return try await reader.reduce(into: []) { $0.append($1.value.count) }
            }
            #expect(values.last == 3, "the last words came")
            #expect(values.count < 100)
        }
    }

    static func bytes(_ count: Int) -> Bytes {
        var bytes = Bytes()
        bytes.value = .init(repeating: 1, count: count)
        return bytes
    }

    @Test func `Cancelling ends both sides`() async throws {
        let probe = EchoService.Probe()
        try await withFixture(probe: probe) { (fixture) async throws -> Void in
            let channel = fixture.channel
            let task = Task {
                try await channel.serverStreaming(
                    EchoService.flood,
                    Self.number(0),
                    response: Bytes.self,
                    options: .init(timeout: .seconds(20))
                ) { reader in
                    for try await _ in reader {}
                }
            }
            try await eventually { await probe.startedCount > 100 }
            task.cancel()
            await #expect(throws: RPCError.self) { try await task.value }
            try await eventually { await probe.cancelledCount == 1 }
            #expect(try await fixture.echo([1]) == [1])
        }
    }

    @Test func `A CANCELLED error of the writer's own ends the call with it`() async throws {
        try await withChannels { (channel) async throws -> Void in
            let begin = Deadline.now()
            let error = await #expect(throws: RPCError.self) {
                try await channel.clientStreaming(
                    EchoService.sum,
                    request: Number.self,
                    response: Number.self,
                    options: .init(timeout: .seconds(5))
                ) { writer in
                    try await writer.write(Self.number(1))
                    throw RPCError(.cancelled, "another call's")
                }
            }
            #expect(error?.code == .cancelled)
            #expect(error?.message == "another call's")
            #expect(Deadline.now().nanoseconds - begin.nanoseconds < 4_000_000_000, "it waited for an answer")
        }
    }

    @Test func `The server's word counts where it ends the call under the writer`() async throws {
        try await withChannels { (channel) async throws -> Void in
            let error = await #expect(throws: RPCError.self) {
                try await channel.clientStreaming(
                    EchoService.refuse,
                    request: Number.self,
                    response: Number.self,
                    options: .init(timeout: .seconds(20))
                ) { writer in
                    while true { try await writer.write(Self.number(1)) }
                }
            }
            #expect(error?.code == .permissionDenied)
        }
    }

    @Test func `Many streams run at once`() async throws {
        try await withFixture(loops: 2) { (fixture) async throws -> Void in
            let channel = fixture.channel
            let total = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await channel.serverStreaming(
                            EchoService.count,
                            Self.number(500),
                            response: Number.self,
                            options: .init(timeout: .seconds(30))
                        ) { reader in
                            var count = 0
                            for try await _ in reader { count += 1 }
                            return count
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(total == 50_000)
        }
    }
}
