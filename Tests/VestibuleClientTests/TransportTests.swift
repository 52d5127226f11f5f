import Foundation
import Testing

@testable import VestibuleClient

struct TransportTests {
    /// Ends with the number of those that ended, after all or ten seconds.
    private static func ended(of total: Int, _ body: @escaping @Sendable (Int) async -> Void) async -> Int {
        let (ends, continuation) = AsyncStream<Bool>.makeStream()
        for index in 0..<total {
            let task = Task {
                await body(index)
                continuation.yield(true)
            }
            // Before it begins, or while it does.
            if index.isMultiple(of: 2) { task.cancel() }
        }
        let limit = Task {
            try await Task.sleep(for: .seconds(10))
            continuation.yield(false)
        }
        defer { limit.cancel() }
        var count = 0
        for await isEnd in ends where count < total {
            guard isEnd else { break }
            count += 1
            if count == total { break }
        }
        return count
    }

    @Test func `A request ends whose task is cancelled as it begins`() async throws {
        let transport = URLSessionTransport()
        let url = try #require(URL(string: "http://127.0.0.1:1/x"))
        let count = await Self.ended(of: 200) { _ in _ = try? await transport.send(HTTPRequest(url: url)) }
        #expect(count == 200)
    }

    private static func stream(_ pieces: Int, of bytes: Int) -> HTTPStream {
        let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        for _ in 0..<pieces { continuation.yield(Data(count: bytes)) }
        continuation.finish()
        return HTTPStream(status: 503, headers: [:], pieces: stream) {}
    }

    @Test func `A response has eight MiB at most`() async throws {
        #expect(try await Self.stream(8, of: 1_048_576).response().body.count == 8_388_608)
        let failure = await #expect(throws: HTTPFailure.self) { try await Self.stream(9, of: 1_048_576).response() }
        #expect(failure.map { CallFailure.lost($0).error.code } == .badResponse)
    }
}
