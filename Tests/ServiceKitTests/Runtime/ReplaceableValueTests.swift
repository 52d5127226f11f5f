import RPCTransport
import ServiceKit
import Testing

/// A value that is replaced during calls.
struct ReplaceableValueTests {
    private final class Number: Sendable {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    private func withGroup(_ body: (EventLoopGroup) async throws -> Void) async throws {
        let group = try EventLoopGroup(loopCount: 2, name: "test")
        let result: Result<Void, any Error>
        do { result = .success(try await body(group)) } catch { result = .failure(error) }
        await group.shutdown()
        try result.get()
    }

    private func expect(_ value: ReplaceableValue<Number>, _ number: Int, on loop: EventLoop) async throws {
        let read = try await loop.run { value.current.number }
        #expect(read == number)
    }

    @Test func `All loops and other threads see the new value`() async throws {
        try await withGroup { group in
            let value = ReplaceableValue(Number(0), group: group)
            for number in 1...3 {
                for loop in group.loops {
                    try await expect(value, number - 1, on: loop)
                }
                #expect(value.current.number == number - 1 && value.generation == number - 1)
                value.replace(Number(number))
                #expect(value.generation == number)
                // The second read uses the loop's cache.
                for loop in group.loops + group.loops {
                    try await expect(value, number, on: loop)
                }
                #expect(value.current.number == number)
            }
        }
    }

    @Test func `Loops of another group read it too`() async throws {
        try await withGroup { group in
            try await withGroup { other in
                let value = ReplaceableValue(Number(1), group: group)
                value.replace(Number(2))
                try await expect(value, 2, on: other.loops[0])
            }
        }
    }

    @Test func `A replaced value is released when the loops have read the new one`() async throws {
        try await withGroup { group in
            weak var first: Number?
            let value: ReplaceableValue<Number>
            do {
                let number = Number(1)
                first = number
                value = ReplaceableValue(number, group: group)
            }
            #expect(first != nil)
            value.replace(Number(2))
            for loop in group.loops { try await expect(value, 2, on: loop) }
            #expect(first == nil)
        }
    }

    /// A reader that sees a generation sees the value of that generation, or a later one.
    @Test func `No reader sees an older value again`() async throws {
        try await withGroup { group in
            let value = ReplaceableValue(Number(0), group: group)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for loop in group.loops {
                    tasks.addTask {
                        var last = 0
                        while last < 2_000 {
                            last = try await loop.run { [last] in
                                let generation = value.generation
                                let number = value.current.number
                                #expect(number >= generation && number >= last)
                                return number
                            }
                        }
                    }
                }
                for number in 1...2_000 {
                    value.replace(Number(number))
                    if number % 50 == 0 { try await Task.sleep(for: .milliseconds(1)) }
                }
                try await tasks.waitForAll()
            }
        }
    }
}
