import Testing

@testable import RPC

struct MethodOrdinalsTests {
    @Test func `A path has one number, and its number finds it`() {
        let first = MethodDescriptor(service: "test.ordinals.Service", method: "A")
        let again = MethodDescriptor(service: "test.ordinals.Service", method: "A", kind: .bidirectionalStreaming)
        let other = MethodDescriptor(service: "test.ordinals.Service", method: "B")
        #expect(first.ordinal == again.ordinal)
        #expect(first.ordinal != other.ordinal)
        #expect(first.ordinal > 0 && first.ordinal < MethodOrdinals.max)
        #expect(MethodOrdinals.paths[first.ordinal] == "/test.ordinals.Service/A")
        #expect(MethodOrdinals.paths[0] == "other")
    }
}
