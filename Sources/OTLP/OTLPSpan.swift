import Synchronization
import Tracing

/// A span of an `OTLPTracer`. Any thread. After its end it is immutable, and waits for its export.
public final class OTLPSpan: Span {
    /// The context for work inside the span.
    public let context: ServiceContext
    /// Whether it is sampled. A span that isn't records nothing and is never exported; it only propagates the context.
    public let isRecording: Bool
    let identity: SpanIdentity
    let parent: SpanIdentity?
    let kind: SpanKind
    let startNanoseconds: UInt64
    private let queue: SpanQueue

    /// The data of a span.
    struct Record: Sendable {
        var name: String
        var endNanoseconds: UInt64 = 0
        var attributes: SpanAttributes = [:]
        var droppedAttributes = 0
        var events: [SpanEvent] = []
        var droppedEvents = 0
        var links: [SpanLink] = []
        var droppedLinks = 0
        var status: SpanStatus?
        var hasEnded = false
    }
    /// The tasks of a call use its span one after the other, so this lock has no contention.
    private let state: Mutex<Record>

    init(
        name: String,
        context: ServiceContext,
        identity: SpanIdentity,
        parent: SpanIdentity?,
        kind: SpanKind,
        startNanoseconds: UInt64,
        queue: SpanQueue
    ) {
        self.context = context
        self.identity = identity
        self.parent = parent
        self.kind = kind
        self.startNanoseconds = startNanoseconds
        self.queue = queue
        isRecording = identity.isSampled
        state = Mutex(Record(name: SpanLimits.text(name)))
    }

    /// A copy of its data.
    var record: Record { state.withLock { $0 } }

    private func change(_ change: (inout Record) -> Void) {
        guard isRecording else { return }
        state.withLock { record in if !record.hasEnded { change(&record) } }
    }

    /// The name, cut to `SpanLimits.textBytesMax`.
    public var operationName: String {
        get { state.withLock { $0.name } }
        set { change { $0.name = SpanLimits.text(newValue) } }
    }

    /// The attributes, within `SpanLimits`.
    public var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set {
            change { record in
                let (kept, dropped) = SpanLimits.attributes(newValue, keeping: record.attributes)
                record.attributes = kept
                record.droppedAttributes += dropped
            }
        }
    }

    /// Sets the status. `ok` is final.
    public func setStatus(_ status: SpanStatus) {
        let status = SpanStatus(code: status.code, message: status.message.map(SpanLimits.text))
        change { if $0.status?.code != .ok { $0.status = status } }
    }

    /// Adds an event, or counts it as dropped if there are too many.
    public func addEvent(_ event: SpanEvent) {
        change { record in
            guard record.events.count < SpanLimits.eventsMax else {
                record.droppedEvents += 1
                return
            }
            var event = event
            event.attributes = SpanLimits.attributes(event.attributes).kept
            record.events.append(event)
        }
    }

    /// Adds an event with the type of the error. Never its text, which may quote a client's data.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error,
        attributes: SpanAttributes,
        at instant: @autoclosure () -> Instant
    ) {
        guard isRecording else { return }
        var attributes = attributes
        attributes["exception.type"] = "\(type(of: error))"
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    }

    /// Adds a link, or counts it as dropped if there are too many.
    public func addLink(_ link: SpanLink) {
        change { record in
            guard record.links.count < SpanLimits.linksMax else {
                record.droppedLinks += 1
                return
            }
            record.links.append(
                SpanLink(context: link.context, attributes: SpanLimits.attributes(link.attributes).kept)
            )
        }
    }

    /// Ends the span and queues it for export; a second call does nothing. Never waits.
    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard isRecording else { return }
        let nanoseconds = instant().nanosecondsSinceEpoch
        let isFirst = state.withLock { record in
            if record.hasEnded { return false }
            record.hasEnded = true
            // The clock may have been set back meanwhile.
            record.endNanoseconds = max(nanoseconds, startNanoseconds)
            return true
        }
        if isFirst { queue.append(self) }
    }
}
