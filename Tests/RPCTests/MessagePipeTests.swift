import RPC
import Synchronization
import Testing

@Suite struct MessagePipeTests {
    /// What lies in a pipe is bounded in compressed bytes, so it must stay compressed until it is read.
    @Test func messagesToBeDecodedAreDecodedOneByOneAsTheyAreRead() async throws {
        let decoded = Mutex(0)
        let taken = Mutex<[Int]>([])
        let pipe = MessagePipe<Int> { byteCount in taken.withLock { $0.append(byteCount) } }
        for number in 1...3 {
            pipe.deliver(byteCount: number * 10) { () throws(RPCError) -> Int in
                decoded.withLock { $0 += 1 }
                return number
            }
        }
        pipe.deliver(4, byteCount: 40)
        pipe.end()
        #expect(decoded.withLock { $0 } == 0)
        var reader = MessageReader(pipe).makeAsyncIterator()
        for number in 1...3 {
            #expect(try await reader.next() == number)
            #expect(decoded.withLock { $0 } == number)
        }
        #expect(try await reader.next() == 4)
        #expect(try await reader.next() == nil)
        #expect(taken.withLock { $0 } == [10, 20, 30, 40])
    }

    @Test func aMessageThatCannotBeDecodedIsItsReadersError() async throws {
        let pipe = MessagePipe<Int> { _ in }
        pipe.deliver(byteCount: 1) { () throws(RPCError) -> Int in throw RPCError(.internalError, "damaged") }
        var reader = MessageReader(pipe).makeAsyncIterator()
        let error = await #expect(throws: RPCError.self) { _ = try await reader.next() }
        #expect(error?.message == "damaged")
    }

    @Test(.timeLimit(.minutes(1))) func aWaitingReaderGetsWhatIsDecodedForIt() async throws {
        let pipe = MessagePipe<Int> { _ in }
        async let number = {
            var reader = MessageReader(pipe).makeAsyncIterator()
            return try await reader.next()
        }()
        try await Task.sleep(for: .milliseconds(10))
        pipe.deliver(byteCount: 1) { () throws(RPCError) -> Int in 7 }
        #expect(try await number == 7)
    }
}
