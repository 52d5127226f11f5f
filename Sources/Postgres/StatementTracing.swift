import RPC
import Tracing

/// Makes spans of statements: kind client, inside the span that the caller's task is in. Any thread.
///
/// - Each caller has a span of its own, from the question to the answer, with the wait for a connection in it. Statements of
///   many callers that travel as one (`PostgresClient.row`, `executeTogether`) are as many spans: a reader of a trace asks how
///   long this call waited, and the others that it happened to share a round trip with belong to other traces. A statement that
///   is sent again after a neighbour's failure is one span still.
/// - Within a transaction each statement has one, COMMIT and ROLLBACK too. BEGIN travels with the first and has none.
/// - Work that is in no span, such as polling, has none either: it would be a trace of one statement each time.
///
/// The text stands in the span as the server gets it, with `$1` for values. Parameters, rows and messages of the server, which
/// may quote them, never do. Attributes: OpenTelemetry semantic conventions, "Database" and "PostgreSQL".
final class StatementTracing: Sendable {
    private let tracer: any Tracer
    private let attributes: SpanAttributes

    init(_ tracer: any Tracer, _ configuration: PostgresConfiguration) {
        self.tracer = tracer
        var attributes: SpanAttributes = ["db.system.name": "postgresql"]
        // Of several hosts nobody knows here which one answers.
        if !configuration.host.contains(",") {
            attributes["server.address"] = configuration.host
            if !configuration.host.hasPrefix("/") { attributes["server.port"] = configuration.port }
        }
        self.attributes = attributes
    }

    /// Starts the span of a statement with that text; nil where the caller is in no span.
    func start(_ text: String) -> StatementSpan? {
        guard let parent = ServiceContext.current else { return nil }
        let operation = Self.operation(text)
        let span = tracer.startSpan(operation, context: parent, ofKind: .client)
        guard span.isRecording else { return nil }
        var attributes = attributes
        attributes["db.query.text"] = text
        attributes["db.query.summary"] = operation
        span.attributes = attributes
        return StatementSpan(span: span)
    }

    /// The longest first word of a statement, which is its name in the trace.
    private static let operationLengthMax = 16

    /// The first word of a statement, such as SELECT; the database's name where there is none.
    static func operation(_ text: String) -> String {
        let words = text.utf8.drop { $0 <= UInt8(ascii: " ") }
        let word = words.prefix { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 & 0xDF }
        guard !word.isEmpty, word.count <= operationLengthMax else { return "postgresql" }
        return String(decoding: word, as: UTF8.self).uppercased()
    }
}

/// The span of one caller's statement.
struct StatementSpan: Sendable {
    fileprivate let span: any Span

    /// The caller has its answer.
    func end<Answer>(_ result: Result<Answer, PostgresError>) {
        if case .failure(let error) = result {
            span.updateAttributes { attributes in
                if let state = error.sqlState { attributes["db.response.status_code"] = state.description }
                attributes["error.type"] = error.spanType
            }
            span.setStatus(SpanStatus(code: .error))
        }
        span.end()
    }
}

extension PostgresError {
    /// The kind of error in a word, of which there are few; the server's code where it has one.
    fileprivate var spanType: String {
        switch self {
        case .server(let fault): fault.state.description
        case .unavailable: "unavailable"
        case .timeout: "timeout"
        case .poolExhausted: "pool_exhausted"
        case .connectionLost: "connection_lost"
        case .decoding: "decoding"
        case .cancelled: "cancelled"
        case .closed: "closed"
        case .invalidQuery: "invalid_query"
        }
    }
}
