import HTTPJSON
import Logging
import RPC
import ServiceKit

/// What is known of a call by RPC, beside its message.
struct AppCall: Sendable {
    /// The call's id: the client's if it sent a sane one, else made here.
    let requestID: String
    /// Where the call stands in a distributed trace.
    let trace: TraceContext
    /// When the answer must be there.
    let deadline: Deadline
    private let base: Logger
    private let context: ServerContext

    /// What is known of a call.
    ///
    /// - Parameters:
    ///   - timeLimit: how long it may take where its client doesn't say less.
    ///   - makeRequestID: makes the id of a call that brings none.
    init(_ context: ServerContext, timeLimit: Duration, logger: Logger, makeRequestID: () -> String) {
        let limit = Deadline.after(timeLimit)
        deadline = context.deadline.map { min($0, limit) } ?? limit
        requestID = RequestName.sane(context.metadata.first("x-request-id")) ?? makeRequestID()
        // The span's, where calls are traced: it is inside the client's.
        trace = Traces.tracer.flatMap { TraceContext.current(of: $0) } ?? context.traceContext ?? .root()
        base = logger
        self.context = context
    }

    /// A logger whose lines have the call's id and trace.
    var logger: Logger {
        var logger = base
        logger[metadataKey: "request_id"] = "\(requestID)"
        logger[metadataKey: "trace"] = "\(trace.traceID)"
        return logger
    }

    /// The metadata, read as header fields are.
    var headers: RequestFields { RequestFields(context.metadata) }

    /// The call's path, such as `/vestibule.app.v1.AuthService/SignOut`.
    var path: String { context.method.path }

    /// The HTTP method of calls that need a user: by GET Connect reads the key set alone, which needs none.
    var httpMethod: String { "POST" }

    /// The other end of the connection.
    var peer: PeerInfo { context.peer }

    /// As ``Caller/callOptions(limit:)``.
    func callOptions(limit: Duration?) -> CallOptions {
        CallOptions(requestID: requestID, trace: trace, deadline: deadline, limit: limit)
    }
}
