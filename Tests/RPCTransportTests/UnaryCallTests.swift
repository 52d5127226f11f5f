import RPC
import RPCTransport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct UnaryCallTests {
    @Test(arguments: [0, 1, 100, 16_383, 16_384, 65_536, 1 << 20, (4 << 20) - 8])
    func `Echoes messages of any size`(count: Int) async throws {
        try await withFixture { (fixture) async throws -> Void in
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            #expect(try await fixture.echo(bytes, options: .init(timeout: .seconds(30))) == bytes)
        }
    }

    @Test func `Refuses a request over the limit`() async throws {
        try await withFixture { (fixture) async throws -> Void in
            let error = await #expect(throws: RPCError.self) {
                try await fixture.echo([UInt8](repeating: 1, count: 5 << 20), options: .init(timeout: .seconds(30)))
            }
            #expect(error?.code == .resourceExhausted)
            #expect(try await fixture.echo([1]) == [1], "the connection is still good")
        }
    }

    @Test func `Refuses an answer over the limit`() async throws {
        var client = ChannelConfiguration()
        client.limits.messageBytesMax = 1000
        try await withFixture(client: client) { (fixture) async throws -> Void in
            let error = await #expect(throws: RPCError.self) {
                try await fixture.echo([UInt8](repeating: 1, count: 2000))
            }
            #expect(error?.code == .resourceExhausted)
            #expect(try await fixture.echo([1]) == [1])
        }
    }

    @Test func `Carries status, message, details and trailers`() async throws {
        try await withFixture { (fixture) async throws -> Void in
            let error = await #expect(throws: RPCError.self) {
                try await fixture.text(EchoService.fail, "gr\u{fc}n 100% \u{1F600}\n")
            }
            #expect(error?.code == .alreadyExists)
            #expect(error?.message == "gr\u{fc}n 100% \u{1F600}\n")
            #expect(error?.statusDetails == [1, 2, 3])
            #expect(error?.metadata.first("x-trailer") == "seen")
        }
    }

    @Test func `Tells nothing of an unexpected error`() async throws {
        try await withFixture { (fixture) async throws -> Void in
            let error = await #expect(throws: RPCError.self) { try await fixture.text(EchoService.fail, "") }
            #expect(error?.code == .internalError)
            #expect(error?.message == "internal error")
        }
    }

    @Test func `Answers unknown methods`() async throws {
        try await withFixture { (fixture) async throws -> Void in
            let unknown = MethodDescriptor(service: EchoService.name, method: "Missing")
            let error = await #expect(throws: RPCError.self) { try await fixture.text(unknown, "x") }
            #expect(error?.code == .unimplemented)
        }
    }

    @Test func `Carries metadata both ways`() async throws {
        try await withFixture { (fixture) async throws -> Void in
            var metadata = Metadata(["x-word": "first", "X-Word": "second"])
            metadata.addBinary("x-data-bin", [0, 255, 10])
            let answer = try await fixture.text(
                EchoService.metadata,
                "x-word",
                options: .init(metadata: metadata)
            )
            #expect(answer == "first")
        }
    }

    @Test func `Refuses metadata that may not be sent`() async throws {
        try await withFixture { (fixture) async throws -> Void in
            let error = await #expect(throws: RPCError.self) {
                try await fixture.echo([1], options: .init(metadata: Metadata(["te": "x"])))
            }
            #expect(error?.code == .internalError)
        }
    }

    @Test func `Handlers stay on their loop`() async throws {
        try await withFixture(loops: 2) { (fixture) async throws -> Void in
            try await withThrowingTaskGroup(of: String.self) { group in
                for index in 0..<200 { group.addTask { try await fixture.text(EchoService.yields, "\(index)") } }
                var seen = Set<String>()
                for try await answer in group { seen.insert(answer) }
                #expect(seen.count == 200)
            }
        }
    }

    @Test func `Answers many calls at once`() async throws {
        try await withFixture(loops: 2) { (fixture) async throws -> Void in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for index in 0..<3000 {
                    group.addTask {
                        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: index % 3000)
                        return try await fixture.echo(bytes) == bytes
                    }
                }
                for try await isSame in group { #expect(isSame) }
            }
        }
    }
}
