import RPC
import Tracing

/// The ids of a span and its trace, which are propagated between processes.
struct SpanIdentity: Sendable, Hashable {
    /// The first and the last half of the trace's id, which is not zero.
    let traceHigh: UInt64
    let traceLow: UInt64
    /// The span's id; not zero.
    let spanID: UInt64
    let isSampled: Bool
    /// The `tracestate`: data of other tracing systems.
    let state: String
    /// Whether the span belongs to another process.
    let isRemote: Bool

    init(
        traceHigh: UInt64,
        traceLow: UInt64,
        spanID: UInt64,
        isSampled: Bool,
        state: String = "",
        isRemote: Bool = false
    ) {
        self.traceHigh = traceHigh
        self.traceLow = traceLow
        self.spanID = spanID
        self.isSampled = isSampled
        self.state = state
        self.isRemote = isRemote
    }

    /// Parses the caller's span; nil if its fields are malformed.
    init?(_ context: TraceContext) {
        guard let high = UInt64(context.traceID.prefix(16), radix: 16),
            let low = UInt64(context.traceID.suffix(16), radix: 16), let span = UInt64(context.spanID, radix: 16)
        else { return nil }
        self.init(
            traceHigh: high,
            traceLow: low,
            spanID: span,
            isSampled: context.isSampled,
            state: context.state,
            isRemote: true
        )
    }

    /// The value of `traceparent` (W3C Trace Context, section 3.2).
    var traceParent: String {
        "00-\(Self.hex(traceHigh))\(Self.hex(traceLow))-\(Self.hex(spanID))-\(isSampled ? "01" : "00")"
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

extension ServiceContext {
    private enum IdentityKey: ServiceContextKey {
        typealias Value = SpanIdentity
    }

    /// The current span of this context.
    var spanIdentity: SpanIdentity? {
        get { self[IdentityKey.self] }
        set { self[IdentityKey.self] = newValue }
    }
}
