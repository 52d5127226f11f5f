import Models
import Postgres
import RPC
import Synchronization
import Testing

@testable import IdentityService

struct SessionEpochTests {
    private struct NotReadable: Error {}

    /// A database that says one time, or nothing, or fails; and a clock.
    private final class Source: Sendable {
        let now = Atomic<UInt64>(1)
        let answer = Mutex<Result<Int64?, NotReadable>>(.success(100))
        let reads = Atomic(0)

        var epoch: SessionEpoch {
            SessionEpoch(nowNanoseconds: { self.now.load(ordering: .relaxed) }) { _ in
                self.reads.add(1, ordering: .relaxed)
                return try self.answer.withLock { try $0.get().map { PostgresTimestamp(microsecondsSince1970: $0) } }
            }
        }

        func pass(milliseconds: UInt64) { now.add(milliseconds * 1_000_000, ordering: .relaxed) }
        func say(_ answer: Result<Int64?, NotReadable>) { self.answer.withLock { $0 = answer } }
        var readCount: Int { reads.load(ordering: .relaxed) }
    }

    private func value(_ epoch: SessionEpoch) async throws -> Int64 {
        try await epoch.sessionsFrom(deadline: nil).microsecondsSince1970
    }

    @Test func `The epoch is read once for many calls and again after half a second`() async throws {
        let source = Source()
        let epoch = source.epoch
        for _ in 0..<3 { #expect(try await value(epoch) == 100) }
        source.pass(milliseconds: 499)
        #expect(try await value(epoch) == 100)
        #expect(source.readCount == 1)
        source.say(.success(200))
        source.pass(milliseconds: 1)
        #expect(try await value(epoch) == 200)
        #expect(source.readCount == 2)
        source.pass(milliseconds: 499)
        #expect(try await value(epoch) == 200)
        #expect(source.readCount == 2)
    }

    @Test func `A database that fails leaves what is known for the rest of the second, and nothing after it`()
        async throws
    {
        let source = Source()
        let epoch = source.epoch
        #expect(try await value(epoch) == 100)
        source.say(.failure(NotReadable()))
        source.pass(milliseconds: 999)
        #expect(try await value(epoch) == 100)
        #expect(source.readCount == 2)
        source.pass(milliseconds: 1)
        await #expect(throws: NotReadable.self) { try await value(epoch) }
        source.say(.success(300))
        #expect(try await value(epoch) == 300)
    }

    @Test func `A read that ends after the second is no excuse`() async throws {
        let source = Source()
        let epoch = SessionEpoch(nowNanoseconds: { source.now.load(ordering: .relaxed) }) { _ in
            if source.reads.add(1, ordering: .relaxed).newValue == 1 {
                return PostgresTimestamp(microsecondsSince1970: 1)
            }
            source.pass(milliseconds: 400)
            throw NotReadable()
        }
        #expect(try await value(epoch) == 1)
        source.pass(milliseconds: 700)
        await #expect(throws: NotReadable.self) { try await value(epoch) }
    }

    @Test func `The epoch never goes back, and an overtaken read changes nothing`() async throws {
        let source = Source()
        let epoch = source.epoch
        #expect(try await value(epoch) == 100)
        source.say(.success(50))
        source.pass(milliseconds: 1_000)
        #expect(try await value(epoch) == 100)
    }

    @Test func `Without an epoch nobody is alive, until there is one again`() async throws {
        let source = Source()
        let epoch = source.epoch
        source.say(.success(nil))
        #expect(try await value(epoch) == .max)
        source.say(.success(7))
        #expect(try await value(epoch) == 7)
    }

    @Test func `While one reads it anew the others go on`() async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        let source = Source()
        let epoch = SessionEpoch(nowNanoseconds: { source.now.load(ordering: .relaxed) }) { _ in
            if source.reads.add(1, ordering: .relaxed).newValue == 2 {
                for await _ in gate { break }
                return PostgresTimestamp(microsecondsSince1970: 2)
            }
            return PostgresTimestamp(microsecondsSince1970: 1)
        }
        #expect(try await value(epoch) == 1)
        source.pass(milliseconds: 600)
        async let renewed = value(epoch)
        while source.readCount < 2 { await Task.yield() }
        for _ in 0..<10 { #expect(try await value(epoch) == 1) }
        #expect(source.readCount == 2)
        open.yield()
        #expect(try await renewed == 2)
        #expect(try await value(epoch) == 2)
    }
}
