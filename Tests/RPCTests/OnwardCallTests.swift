import RPC
import SwiftProtobuf
import Synchronization
import Testing

/// What a handler's call hands on to the calls that the handler makes.
struct OnwardCallTests {
    typealias Text = Google_Protobuf_StringValue
    static let inner = MethodDescriptor(service: "test.Onward", method: "Inner")
    static let innerStream = MethodDescriptor(service: "test.Onward", method: "InnerStream", kind: .serverStreaming)
    static let outer = MethodDescriptor(service: "test.Onward", method: "Outer")
    static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    /// What the inner handler saw.
    struct Seen: Sendable {
        var deadline: Deadline?
        var parents: [String] = []
        var states: [String] = []
        var trace: TraceContext?
    }

    /// Calls the outer method, whose handler makes the onward call, and returns what that one carried.
    private func seen(
        by options: CallOptions,
        onward: @escaping @Sendable (InProcessChannel) async throws -> Void
    ) async throws -> Seen {
        let seen = Mutex(Seen())
        let note: @Sendable (ServerContext) -> Void = { context in
            seen.withLock {
                $0 = Seen(
                    deadline: context.deadline,
                    parents: context.metadata.all("traceparent"),
                    states: context.metadata.all("tracestate"),
                    trace: context.traceContext
                )
            }
        }
        var innerRouter = Router()
        innerRouter.unary(Self.inner) { (request: Text, context) -> Text in
            note(context)
            return request
        }
        innerRouter.serverStreaming(Self.innerStream) { (_: Text, _: MessageWriter<Text>, context) in note(context) }
        let channel = InProcessChannel(innerRouter)
        var router = Router()
        router.unary(Self.outer) { (request: Text, _) -> Text in
            try await onward(channel)
            return request
        }
        _ = try await InProcessChannel(router).unary(Self.outer, Text(), response: Text.self, options: options)
        return seen.withLock { $0 }
    }

    private static func call(_ channel: InProcessChannel, _ options: CallOptions = .init()) async throws {
        _ = try await channel.unary(inner, Text(), response: Text.self, options: options)
    }

    @Test func `The deadline is handed on and a sooner one stays`() async throws {
        let outer = CallOptions(timeout: .seconds(50))
        #expect(try await seen(by: outer) { try await Self.call($0) }.deadline == outer.deadline)
        let later = try await seen(by: outer) { try await Self.call($0, .init(timeout: .seconds(90))) }
        #expect(later.deadline == outer.deadline)
        let sooner = CallOptions(timeout: .seconds(30))
        #expect(try await seen(by: outer) { try await Self.call($0, sooner) }.deadline == sooner.deadline)
    }

    @Test func `The deadline reaches streams, child tasks and what comes after a wait`() async throws {
        let outer = CallOptions(timeout: .seconds(50))
        let stream = try await seen(by: outer) { channel in
            try await channel.serverStreaming(Self.innerStream, Text(), response: Text.self, options: .init()) {
                reader in
                for try await _ in reader {}
            }
        }
        #expect(stream.deadline == outer.deadline)
        let child = try await seen(by: outer) { channel in
            await Task.yield()
            async let call: Void = Self.call(channel)
            try await call
        }
        #expect(child.deadline == outer.deadline)
    }

    @Test func `Outside of a handler, and where it is not wanted, nothing is inherited`() async throws {
        let metadata = Metadata(["traceparent": Self.parent])
        var alone = CallOptions()
        alone.inheritsFromCall = false
        let options = alone
        let seen = try await seen(by: .init(timeout: .seconds(50), metadata: metadata)) {
            try await Self.call($0, options)
        }
        #expect(seen.deadline == nil)
        #expect(seen.parents.isEmpty)
        #expect(OnwardCall.options(CallOptions()).deadline == nil)
    }

    @Test func `The trace goes on with a span of its own`() async throws {
        let metadata = Metadata(["traceparent": Self.parent, "tracestate": "a=1", "tracestate": "b=2", "x-own": "x"])
        let seen = try await seen(by: .init(metadata: metadata)) { try await Self.call($0) }
        #expect(seen.parents.count == 1)
        #expect(seen.parents != [Self.parent])
        #expect(seen.trace?.traceID == "0af7651916cd43dd8448eb211c80319c")
        #expect(seen.trace?.isSampled == true)
        #expect(seen.states == ["a=1,b=2"])
    }

    @Test func `A trace of the call's own stays`() async throws {
        let own = "00-11111111111111111111111111111111-2222222222222222-00"
        let options = CallOptions(metadata: Metadata(["traceparent": own]))
        let seen = try await seen(by: .init(metadata: Metadata(["traceparent": Self.parent]))) {
            try await Self.call($0, options)
        }
        #expect(seen.parents == [own])
    }

    @Test func `A malformed trace is not handed on`() async throws {
        let seen = try await seen(by: .init(metadata: Metadata(["traceparent": "00-abc", "tracestate": "a=1"]))) {
            try await Self.call($0)
        }
        #expect(seen.parents.isEmpty && seen.states.isEmpty)
    }

    @Test func `An onward call ends with the outer deadline`() async throws {
        let error = await #expect(throws: RPCError.self) {
            _ = try await seen(by: .init(timeout: .milliseconds(100))) { channel in
                try await Task.sleep(for: .milliseconds(150))
                try await Self.call(channel, .init(timeout: .seconds(60)))
            }
        }
        #expect(error?.code == .deadlineExceeded)
    }
}
