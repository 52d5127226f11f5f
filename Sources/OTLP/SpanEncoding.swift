import SwiftProtobuf
import Tracing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encodes spans as OTLP's messages.
enum SpanEncoding {
    typealias Attribute = Opentelemetry_Proto_Common_V1_KeyValue
    typealias Value = Opentelemetry_Proto_Common_V1_AnyValue
    typealias Message = Opentelemetry_Proto_Trace_V1_Span
    typealias Request = Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceRequest

    /// The name of the instrumentation library.
    static let scopeName = "vestibule"

    /// A batch of one process.
    static func request(resource: [String: String], spans: [Message]) -> Request {
        Request.with { request in
            request.resourceSpans = [
                .with { group in
                    group.resource.attributes = resource.sorted { $0.key < $1.key }.map { key, text in
                        attribute(key, .with { $0.stringValue = text })
                    }
                    group.scopeSpans = [
                        .with { scope in
                            scope.scope.name = scopeName
                            scope.spans = spans
                        }
                    ]
                }
            ]
        }
    }

    /// One ended span.
    static func message(_ span: OTLPSpan) -> Message {
        let record = span.record
        let identity = span.identity
        return Message.with { message in
            message.traceID = traceID(identity)
            message.spanID = bytes(identity.spanID)
            message.traceState = identity.state
            if let parent = span.parent { message.parentSpanID = bytes(parent.spanID) }
            message.flags = flags(identity, parent: span.parent)
            message.name = record.name
            message.kind = kind(span.kind)
            message.startTimeUnixNano = span.startNanoseconds
            message.endTimeUnixNano = record.endNanoseconds
            message.attributes = attributes(record.attributes)
            message.droppedAttributesCount = UInt32(clamping: record.droppedAttributes)
            message.events = record.events.map { event in
                .with { message in
                    message.name = SpanLimits.text(event.name)
                    message.timeUnixNano = event.nanosecondsSinceEpoch
                    message.attributes = attributes(event.attributes)
                }
            }
            message.droppedEventsCount = UInt32(clamping: record.droppedEvents)
            message.links = record.links.compactMap(link)
            message.droppedLinksCount = UInt32(clamping: record.droppedLinks)
            if let status = record.status {
                message.status.code = status.code == .ok ? .ok : .error
                if status.code == .error, let text = status.message { message.status.message = text }
            }
        }
    }

    private static func link(_ link: SpanLink) -> Message.Link? {
        guard let identity = link.context.spanIdentity else { return nil }
        return .with { message in
            message.traceID = traceID(identity)
            message.spanID = bytes(identity.spanID)
            message.traceState = identity.state
            message.attributes = attributes(link.attributes)
            message.flags = identity.isSampled ? sampledFlag : 0
        }
    }

    private static let sampledFlag: UInt32 = 1

    /// The trace flags, and whether the parent is a span of another process.
    private static func flags(_ identity: SpanIdentity, parent: SpanIdentity?) -> UInt32 {
        var flags = identity.isSampled ? sampledFlag : 0
        guard let parent else { return flags }
        flags |= UInt32(Opentelemetry_Proto_Trace_V1_SpanFlags.contextHasIsRemoteMask.rawValue)
        if parent.isRemote { flags |= UInt32(Opentelemetry_Proto_Trace_V1_SpanFlags.contextIsRemoteMask.rawValue) }
        return flags
    }

    private static func kind(_ kind: SpanKind) -> Message.SpanKind {
        switch kind {
        case .server: .server
        case .client: .client
        case .producer: .producer
        case .consumer: .consumer
        case .internal: .internal
        }
    }

    private static func traceID(_ identity: SpanIdentity) -> Data {
        bytes(identity.traceHigh) + bytes(identity.traceLow)
    }

    private static func bytes(_ number: UInt64) -> Data {
        withUnsafeBytes(of: number.bigEndian) { Data($0) }
    }

    private static func attributes(_ attributes: SpanAttributes) -> [Attribute] {
        var all: [Attribute] = []
        all.reserveCapacity(attributes.count)
        attributes.forEach { key, value in
            if let value = self.value(value) { all.append(attribute(key, value)) }
        }
        return all
    }

    private static func attribute(_ key: String, _ value: Value) -> Attribute {
        .with { attribute in
            attribute.key = key
            attribute.value = value
        }
    }

    private static func value(_ value: SpanAttribute) -> Value? {
        switch value {
        case .int32(let number): .with { $0.intValue = Int64(number) }
        case .int64(let number): .with { $0.intValue = number }
        case .double(let number): .with { $0.doubleValue = number }
        case .bool(let flag): .with { $0.boolValue = flag }
        case .string(let text): .with { $0.stringValue = text }
        case .int32Array(let numbers): array(numbers) { number in .with { $0.intValue = Int64(number) } }
        case .int64Array(let numbers): array(numbers) { number in .with { $0.intValue = number } }
        case .doubleArray(let numbers): array(numbers) { number in .with { $0.doubleValue = number } }
        case .boolArray(let flags): array(flags) { flag in .with { $0.boolValue = flag } }
        case .stringArray(let texts): array(texts) { text in .with { $0.stringValue = text } }
        // Convertible values were converted when they were set (`SpanLimits`).
        default: nil
        }
    }

    private static func array<Element>(_ elements: [Element], _ value: (Element) -> Value) -> Value {
        .with { $0.arrayValue.values = elements.map(value) }
    }
}
