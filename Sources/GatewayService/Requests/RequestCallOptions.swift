import HTTPJSON
import RPC

extension CallOptions {
    /// What every call on behalf of a request is made with: the rest of its time, its id for the log, and its place in the
    /// client's trace.
    ///
    /// - Parameter limit: ends the call sooner than the request.
    init(requestID: String, trace: TraceContext, deadline: Deadline, limit: Duration?) {
        // An id, a `traceparent`, their names and lengths; a `tracestate` comes on top, which is rare.
        let metadata = Metadata(reservingByteCount: 160)
        self.init(deadline: limit.map { min(deadline, .after($0)) } ?? deadline, metadata: metadata)
        self.metadata.add("x-request-id", requestID)
        trace.child().add(to: &self.metadata)
    }
}

extension RouteContext {
    /// As ``Caller/callOptions(limit:)``.
    func callOptions(limit: Duration? = nil) -> CallOptions {
        CallOptions(requestID: requestID, trace: trace, deadline: deadline, limit: limit)
    }
}
