import RPC
import Testing
import Tracing

@testable import OTLP

struct OTLPTracerTests {
    static let inbound = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private func tracer(_ change: (inout OTLPConfiguration) -> Void = { _ in }) -> OTLPTracer {
        var configuration = OTLPConfiguration(target: "127.0.0.1:4317", serviceName: "test")
        change(&configuration)
        return OTLPTracer(configuration)
    }

    private func context(_ tracer: OTLPTracer, _ entries: KeyValuePairs<String, String>) -> ServiceContext {
        var context = ServiceContext.topLevel
        tracer.extract(Metadata(entries), into: &context, using: MetadataCarrier())
        return context
    }

    @Test func `A caller's span is the parent`() throws {
        let tracer = tracer()
        let caller = context(tracer, ["traceparent": Self.inbound, "tracestate": "a=1", "tracestate": "b=2"])
        let span = tracer.startSpan("server", context: caller, ofKind: .server)
        let child = tracer.startSpan("client", context: span.context, ofKind: .client)
        child.end()
        span.end()
        let messages = [span, child].map(SpanEncoding.message)
        #expect(
            messages[0].traceID.map { $0 } == [
                0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c,
            ]
        )
        #expect(messages[0].parentSpanID.map { $0 } == [0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31])
        #expect(messages[1].traceID == messages[0].traceID)
        #expect(messages[1].parentSpanID == messages[0].spanID)
        #expect(messages[0].spanID != messages[1].spanID && messages[0].spanID.count == 8)
        #expect(messages.map(\.flags) == [0x301, 0x101], "sampled; a remote parent, then one of our own")
        #expect(messages.map(\.kind) == [.server, .client])
        #expect(messages[0].traceState == "a=1,b=2")
        #expect(messages.allSatisfy { $0.endTimeUnixNano >= $0.startTimeUnixNano && $0.startTimeUnixNano > 1 << 60 })
        var metadata = Metadata(["traceparent": "another hand's", "x": "kept", "data-bin": "AAE"])
        MetadataCarrier.inject(child.context, of: tracer, into: &metadata)
        let sent = try #require(TraceContext(metadata))
        #expect(sent.traceID == "0af7651916cd43dd8448eb211c80319c" && sent.isSampled && sent.state == "a=1,b=2")
        #expect(sent.spanID == String(child.identity.spanID, radix: 16).leftPadded)
        #expect(metadata.first("x") == "kept" && metadata.firstBinary("data-bin") == [0, 1])
    }

    @Test(arguments: [
        "", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-\(String(repeating: "0", count: 32))-b7ad6b7169203331-01",
    ])
    func `A malformed parent is none`(text: String) {
        let tracer = tracer()
        #expect(context(tracer, ["traceparent": text]).spanIdentity == nil)
        #expect(context(tracer, ["traceparent": Self.inbound, "traceparent": Self.inbound]).spanIdentity == nil)
    }

    @Test func `The caller's sampled flag is honoured`() {
        let tracer = tracer()
        let caller = context(tracer, ["traceparent": Self.inbound.dropLast() + "0"])
        let span = tracer.startSpan("x", context: caller, ofKind: .server)
        span.attributes["a"] = "b"
        span.end()
        #expect(!span.isRecording && tracer.queue.count == 0 && span.attributes.isEmpty)
        #expect(span.identity.traceParent.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-"))
        #expect(span.identity.traceParent.hasSuffix("-00"), "the next in line learns of it")
    }

    @Test func `A span is queued once and frozen`() {
        let tracer = tracer()
        let span = tracer.startSpan("x", context: .topLevel)
        span.setStatus(SpanStatus(code: .ok))
        span.setStatus(SpanStatus(code: .error, message: "late"))
        span.end()
        span.end()
        span.operationName = "y"
        span.attributes["a"] = 1
        #expect(tracer.queue.count == 1)
        let message = SpanEncoding.message(span)
        #expect(message.name == "x" && message.attributes.isEmpty && message.status.code == .ok)
        #expect(message.parentSpanID.isEmpty)
    }

    @Test func `The content of a span is bounded`() throws {
        let span = tracer().startSpan(String(repeating: "n", count: 5000), context: .topLevel)
        span.attributes["kept"] = "first"
        span.updateAttributes { attributes in
            for number in 0..<100 { attributes["a\(number)"] = number }
            attributes["long"] = String(repeating: "\u{e9}", count: 3000) + "x"
            attributes["many"] = SpanAttribute.int64Array(Array(0..<100))
        }
        for number in 0..<100 { span.addEvent(SpanEvent(name: "e\(number)")) }
        for _ in 0..<100 { span.addLink(SpanLink(context: span.context, attributes: [:])) }
        span.end()
        let message = SpanEncoding.message(span)
        #expect(message.name.utf8.count == SpanLimits.textBytesMax)
        #expect(message.attributes.count == SpanLimits.attributesMax && message.droppedAttributesCount == 39)
        #expect(message.attributes.contains { $0.key == "kept" }, "what was there before stays")
        #expect(message.events.count == SpanLimits.eventsMax && message.droppedEventsCount == 36)
        #expect(message.links.count == SpanLimits.linksMax && message.droppedLinksCount == 84)
        let few = tracer().startSpan("x", context: .topLevel)
        few.attributes = [
            "odd": .string("x" + String(repeating: "\u{e9}", count: 3000)), "many": .int64Array(Array(0..<100)),
        ]
        let texts = SpanEncoding.message(few).attributes
        let odd = try #require(texts.first { $0.key == "odd" }).value.stringValue
        #expect(odd.utf8.count == SpanLimits.textBytesMax - 1 && odd.hasSuffix("\u{e9}"), "cut between characters")
        #expect(try #require(texts.first { $0.key == "many" }).value.arrayValue.values.count == SpanLimits.elementsMax)
    }

    @Test func `An error is recorded by its type alone`() {
        struct Quoting: Error, CustomStringConvertible { let description = "+639171234567" }
        let span = tracer().startSpan("x", context: .topLevel)
        span.recordError(Quoting())
        let event = SpanEncoding.message(span).events[0]
        #expect(event.name == "exception" && event.attributes.map(\.value.stringValue) == ["Quoting"])
    }

    @Test func `The configuration does not print its headers`() {
        let configuration = tracer { $0.headers.add("api-key", "hidden") }.configuration
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(!text.contains("hidden"))
        }
    }
}

extension String {
    fileprivate var leftPadded: String { String(repeating: "0", count: 16 - count) + self }
}
