import RPC
import SwiftProtobuf
import Synchronization
import Testing

struct MessagePipeTests {
    typealias Text = Google_Protobuf_StringValue

    private static func bytes(_ text: String) throws -> [UInt8] { try Text(text).serializedBytes() }

    /// What lies in a pipe is bounded in compressed bytes, so it must stay compressed until it is read.
    @Test func `Compressed messages are inflated one by one as they are read`() async throws {
        let inflated = Mutex(0)
        let taken = Mutex<[Int]>([])
        let pipe = MessagePipe { byteCount in taken.withLock { $0.append(byteCount) } }
        for number in 1...3 {
            let content = try Self.bytes("text \(number)")
            let message = CompressedMessage(Array(repeating: 0, count: number * 10)) { _ in
                inflated.withLock { $0 += 1 }
                return content
            }
            pipe.deliver(.compressed(message))
        }
        let last = try MessageBuffer(encoding: Text("the last"))
        pipe.deliver(.buffer(last))
        pipe.end()
        #expect(inflated.withLock { $0 } == 0)
        var reader = MessageReader<Text>(pipe).makeAsyncIterator()
        for number in 1...3 {
            #expect(try await reader.next()?.value == "text \(number)")
            #expect(inflated.withLock { $0 } == number)
        }
        #expect(try await reader.next()?.value == "the last")
        #expect(try await reader.next() == nil)
        #expect(taken.withLock { $0 } == [10, 20, 30, last.count])
    }

    @Test func `A malformed message is its reader's error`() async throws {
        let pipe = MessagePipe { _ in }
        pipe.deliver(.bytes([0xff]))
        pipe.deliver(.compressed(CompressedMessage([1]) { _ throws(RPCError) in throw RPCError(.dataLoss, "damaged") }))
        var reader = MessageReader<Text>(pipe).makeAsyncIterator()
        let plain = await #expect(throws: RPCError.self) { _ = try await reader.next() }
        #expect(plain?.code == .internalError)
        let compressed = await #expect(throws: RPCError.self) { _ = try await reader.next() }
        #expect(compressed?.message == "damaged")
    }

    @Test(.timeLimit(.minutes(5))) func `A waiting reader gets what comes`() async throws {
        let pipe = MessagePipe { _ in }
        async let text = {
            var reader = MessageReader<Text>(pipe).makeAsyncIterator()
            return try await reader.next()?.value
        }()
        try await Task.sleep(for: .milliseconds(10))
        pipe.deliver(.bytes(try Self.bytes("late")))
        #expect(try await text == "late")
    }

    /// A call that ended otherwise leaves nothing for its reader, who may never come for it.
    @Test func `An abandoned message is dropped`() async throws {
        for hasEnded in [false, true] {
            let pipe = MessagePipe { _ in }
            let isFreed = Mutex(0)
            for _ in 0..<3 {
                let watch = Watch { isFreed.withLock { $0 += 1 } }
                pipe.deliver(.compressed(CompressedMessage([1]) { _ in withExtendedLifetime(watch) { [] } }))
            }
            if hasEnded { pipe.end() }
            #expect(isFreed.withLock { $0 } == 0)
            pipe.abandon(RPCError(.cancelled, "over"))
            #expect(isFreed.withLock { $0 } == 3)
            let error = await #expect(throws: RPCError.self) { _ = try await pipe.next() }
            #expect(error?.code == .cancelled)
        }
    }

    /// Flow control counts what was not taken; so nothing else may be kept, also while the reader never quite catches up.
    @Test func `A message that was taken is released`() async throws {
        let pipe = MessagePipe { _ in }
        let isFreed = Mutex(0)
        for _ in 0..<3 {
            let watch = Watch { isFreed.withLock { $0 += 1 } }
            pipe.deliver(.compressed(CompressedMessage([1]) { _ in withExtendedLifetime(watch) { [] } }))
        }
        for taken in 1...2 {
            _ = try await pipe.next()
            #expect(isFreed.withLock { $0 } == taken)
        }
    }

    /// One that was read to its end stays as it ended.
    @Test func `An abandoned pipe that was read has its end`() async throws {
        let pipe = MessagePipe { _ in }
        pipe.deliver(.bytes(try Self.bytes("all")))
        pipe.end()
        #expect(try await pipe.next() != nil)
        pipe.abandon(RPCError(.cancelled, "over"))
        #expect(try await pipe.next() == nil)
    }

    /// Tells when it is freed.
    private final class Watch: Sendable {
        private let freed: @Sendable () -> Void
        init(_ freed: @escaping @Sendable () -> Void) { self.freed = freed }
        deinit { freed() }
    }
}
