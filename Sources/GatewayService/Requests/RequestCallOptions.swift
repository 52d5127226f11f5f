import HTTPJSON
import RPC

extension RouteContext {
    /// What every call on behalf of this request is made with: the rest of its time, its id for the log, and its place in
    /// the client's trace.
    ///
    /// - Parameter limit: ends the call sooner than the request.
    func callOptions(limit: Duration? = nil) -> CallOptions {
        var options = CallOptions()
        options.deadline = limit.map { min(deadline, .after($0)) } ?? deadline
        options.metadata.add("x-request-id", requestID)
        trace.child().add(to: &options.metadata)
        return options
    }
}
