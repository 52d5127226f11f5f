import Testing

@testable import RPC

struct TraceContextTests {
    static let trace = "0af7651916cd43dd8448eb211c80319c"
    static let span = "b7ad6b7169203331"
    static let parent = "00-\(trace)-\(span)-01"

    static func context(_ parent: String, _ states: String...) -> TraceContext? {
        var metadata = Metadata()
        metadata.add("traceparent", parent)
        for state in states { metadata.add("tracestate", state) }
        return TraceContext(metadata)
    }

    @Test func `Reads what the standard shows`() throws {
        let context = try #require(Self.context(Self.parent, "congo=t61rcWkgMzE"))
        #expect(context.traceID == Self.trace)
        #expect(context.spanID == Self.span)
        #expect(context.isSampled)
        #expect(context.state == "congo=t61rcWkgMzE")
        #expect(Self.context("00-\(Self.trace)-\(Self.span)-00")?.isSampled == false)
        #expect(Self.context("00-\(Self.trace)-\(Self.span)-fe")?.isSampled == false, "other flags mean nothing")
        #expect(TraceContext(Metadata()) == nil)
    }

    @Test(arguments: [
        "", "00", parent + "-", parent + "0", String(parent.dropLast()), parent.uppercased(), " " + parent,
        "ff-\(trace)-\(span)-01", "0g-\(trace)-\(span)-01", "00_\(trace)-\(span)-01", "00-\(trace)_\(span)-01",
        "00-\(String(repeating: "0", count: 32))-\(span)-01", "00-\(trace)-0000000000000000-01",
        "00-\(trace)-\(span)-0x", "00-\(trace)-\(span)-+1", "01-\(trace)-\(span)-01x", "00-\(span)-\(trace)-01",
    ])
    func `Refuses what is malformed`(_ parent: String) {
        #expect(Self.context(parent) == nil)
    }

    @Test func `A later version may go on`() {
        #expect(Self.context("01-\(Self.trace)-\(Self.span)-01-more")?.spanID == Self.span)
        #expect(Self.context("cc-\(Self.trace)-\(Self.span)-01")?.spanID == Self.span)
    }

    @Test func `Two parents count as none`() {
        var metadata = Metadata()
        metadata.add("traceparent", Self.parent)
        metadata.add("traceparent", Self.parent)
        #expect(TraceContext(metadata) == nil)
    }

    @Test(arguments: [
        ("a=1,b=2", "a=1,b=2"), ("a=1 , \t b=2", "a=1,b=2"), ("a=1,,b=2,", "a=1,b=2"),
        ("t@v/x-1_*=a b", "t@v/x-1_*=a b"),
        ("a=1,a=2", ""), ("A=1", ""), ("=1", ""), ("a=", ""), ("a", ""), ("a=1=2", ""), ("a=1,b", ""), ("_a=1", ""),
    ])
    func `Keeps only a well-formed state`(_ state: String, _ kept: String) {
        #expect(Self.context(Self.parent, state)?.state == kept)
    }

    @Test func `The state's headers are joined, and bounded`() {
        #expect(Self.context(Self.parent, "a=1", "b=2")?.state == "a=1,b=2")
        let long = (0..<8).map { "k\($0)=" + String(repeating: "v", count: 100) }
        let kept = Self.context(Self.parent, long.joined(separator: ","))?.state
        #expect(kept == long.prefix(4).joined(separator: ","))
        let many = (0...TraceContext.stateMembersMax).map { "k\($0)=v" }
        #expect(Self.context(Self.parent, many.joined(separator: ","))?.state == "")
        #expect(Self.context(Self.parent, many.dropLast().joined(separator: ","))?.state.isEmpty == false)
    }

    @Test func `A child is a new span of the same trace`() throws {
        let context = try #require(Self.context(Self.parent, "a=1"))
        var metadata = Metadata()
        context.child().add(to: &metadata)
        let child = try #require(TraceContext(metadata))
        #expect(child.traceID == context.traceID)
        #expect(child.spanID != context.spanID)
        #expect(child.isSampled && child.state == "a=1")
    }
}
