import RPC
import RPCTransport
import TestWaits
import Testing

/// Calls that are tried again, over real sockets.
@Suite(.timeLimit(.minutes(5)))
struct RetryTests {
    private static func quick(_ change: (inout RetryPolicy) -> Void = { _ in }) -> ChannelConfiguration {
        var configuration = ChannelConfiguration()
        configuration.retry.backoffFirst = .milliseconds(5)
        change(&configuration.retry)
        return configuration
    }

    /// The code of the error that a call throws; nil if it does not.
    private func code(_ body: () async throws -> Void) async throws -> Status.Code? {
        do {
            try await body()
            return nil
        } catch let error as RPCError {
            return error.code
        }
    }

    @Test func `An idempotent call is tried again and says how often`() async throws {
        let service = ScriptedService([.error(.unavailable), .error(.unavailable)])
        try await Replicas.run(service) { (replicas) async throws -> Void in
            let channel = try replicas.channel("127.0.0.1", configuration: Self.quick())
            #expect(try await channel.scripted(ScriptedService.idempotent) == "done")
            #expect(service.previousAttempts == [nil, "1", "2"])
        }
    }

    @Test func `Calls that are not idempotent are not tried again`() async throws {
        let service = ScriptedService([.error(.unavailable)])
        try await Replicas.run(service) { (replicas) async throws -> Void in
            let channel = try replicas.channel("127.0.0.1", configuration: Self.quick())
            #expect(try await code { _ = try await channel.scripted(ScriptedService.once) } == .unavailable)
            #expect(service.previousAttempts == [nil])
            service.play([.error(.aborted)])
            #expect(try await code { _ = try await channel.scripted(ScriptedService.idempotent) } == .aborted)
            #expect(service.previousAttempts.count == 2)
        }
    }

    @Test func `Attempts and the deadline are bounds`() async throws {
        let service = ScriptedService(Array(repeating: .error(.unavailable), count: 20))
        try await Replicas.run(service) { (replicas) async throws -> Void in
            let channel = try replicas.channel("127.0.0.1", configuration: Self.quick { $0.attemptsMax = 3 })
            #expect(try await code { _ = try await channel.scripted(ScriptedService.idempotent) } == .unavailable)
            #expect(service.previousAttempts == [nil, "1", "2"])
            let slow = try replicas.channel(
                "127.0.0.1",
                configuration: Self.quick {
                    $0.backoffFirst = .seconds(30)
                    $0.backoffMax = .seconds(30)
                }
            )
            let begin = Deadline.now()
            #expect(try await code { _ = try await slow.scripted(ScriptedService.idempotent) } == .unavailable)
            #expect(Deadline.now().nanoseconds - begin.nanoseconds < 5_000_000_000, "it does not wait in vain")
            #expect(service.previousAttempts.count == 4)
        }
    }

    @Test func `The server says when and whether to try again`() async throws {
        let service = ScriptedService([.error(.unavailable, pushback: "200"), .error(.unavailable, pushback: "-1")])
        try await Replicas.run(service) { (replicas) async throws -> Void in
            let channel = try replicas.channel("127.0.0.1", configuration: Self.quick())
            let begin = Deadline.now()
            #expect(try await code { _ = try await channel.scripted(ScriptedService.idempotent) } == .unavailable)
            #expect(Deadline.now().nanoseconds - begin.nanoseconds >= 190_000_000)
            #expect(service.previousAttempts == [nil, "1"])
        }
    }

    @Test func `The budget ends retries until calls end well`() async throws {
        let service = ScriptedService(Array(repeating: .error(.unavailable), count: 100))
        try await Replicas.run(service) { (replicas) async throws -> Void in
            let configuration = Self.quick {
                $0.tokensMax = 4
                $0.tokenRatioThousandths = 1000
                $0.attemptsMax = 2
            }
            let channel = try replicas.channel("127.0.0.1", configuration: configuration)
            // Four tokens: the first failure leaves three and is tried again, the second leaves two, the half.
            _ = try await code { _ = try await channel.scripted(ScriptedService.idempotent) }
            #expect(service.previousAttempts.count == 2)
            _ = try await code { _ = try await channel.scripted(ScriptedService.idempotent) }
            #expect(service.previousAttempts.count == 3, "no retry")
            service.play([])
            for _ in 0..<4 { _ = try await channel.scripted(ScriptedService.idempotent) }
            service.play([.error(.unavailable)])
            #expect(try await channel.scripted(ScriptedService.idempotent) == "done")
            #expect(service.previousAttempts.last == "1")
        }
    }

    @Test func `A stream is tried again until its first message`() async throws {
        let service = ScriptedService([.error(.unavailable), .error(.unavailable)])
        try await Replicas.run(service) { (replicas) async throws -> Void in
            let channel = try replicas.channel("127.0.0.1", configuration: Self.quick())
            #expect(try await channel.listing("which") == ["done"])
            #expect(service.requests == ["which", "which", "which"])
            service.play([.messageThenError(.unavailable)])
            #expect(try await code { _ = try await channel.listing() } == .unavailable)
            #expect(service.requests.count == 4)
        }
    }

    @Test func `A call cancelled between attempts ends at once`() async throws {
        // The server says how long, since a wait of the channel's own choice may be as short as none.
        let service = ScriptedService([.error(.unavailable, pushback: "5000")])
        try await Replicas.run(service) { (replicas) async throws -> Void in
            let channel = try replicas.channel("127.0.0.1", configuration: Self.quick())
            let call = Task { try await channel.scripted(ScriptedService.idempotent) }
            try await eventually { service.previousAttempts.count == 1 }
            try await Task.sleep(for: .milliseconds(50))
            call.cancel()
            let begin = Deadline.now()
            #expect(try await code { _ = try await call.value } == .cancelled)
            #expect(Deadline.now().nanoseconds - begin.nanoseconds < 2_000_000_000)
        }
    }

    @Test func `Closing the channel ends calls that wait for another attempt`() async throws {
        // The server says how long, since a wait of the channel's own choice may be as short as none.
        let service = ScriptedService([.error(.unavailable, pushback: "5000")])
        try await Replicas.run(service) { (replicas) async throws -> Void in
            let channel = try replicas.channel("127.0.0.1", configuration: Self.quick())
            let call = Task { try await channel.scripted(ScriptedService.idempotent) }
            try await eventually { service.previousAttempts.count == 1 }
            await channel.close()
            #expect(try await code { _ = try await call.value } == .unavailable)
        }
    }
}
