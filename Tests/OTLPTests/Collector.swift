import RPC
import RPCTransport
import SwiftProtobuf
import Synchronization

@testable import OTLP

/// A collector on a real socket, whose answers follow a script.
final class Collector: Sendable {
    typealias Request = Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceRequest
    typealias Response = Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceResponse
    typealias Span = Opentelemetry_Proto_Trace_V1_Span

    /// What it does with a batch.
    enum Answer: Sendable {
        case take
        case fail(Status.Code)
        case partly(rejected: Int64, message: String)
        case never
    }

    private struct State {
        var script: [Answer]
        var requests: [Request] = []
        var metadata: [Metadata] = []
        var wasCompressed: [Bool] = []
        var attempts = 0
    }
    private let state: Mutex<State>
    private let server: RPCServer

    /// Past its end the script takes everything.
    init(_ script: [Answer] = [], tls: TLSConfiguration? = nil, group: EventLoopGroup) {
        let state = Mutex(State(script: script))
        self.state = state
        var router = Router()
        let box = Box()
        router.unary(TraceServiceMethods.export) { (request: Request, context) -> Response in
            try await box.collector!.answer(request, context)
        }
        server = RPCServer(group: group, router: router, configuration: ServerConfiguration(tls: tls))
        box.collector = self
    }

    /// Lets the handler reach the collector, which is complete only after the server is made.
    private final class Box: @unchecked Sendable {
        // Sound because it is written once, before the server starts.
        weak var collector: Collector?
    }

    private func answer(_ request: Request, _ context: ServerContext) async throws -> Response {
        let next = state.withLock { state in
            state.attempts += 1
            return state.script.isEmpty ? Answer.take : state.script.removeFirst()
        }
        switch next {
        case .fail(let code): throw RPCError(code, "as the script says")
        case .never:
            try await Task.sleep(for: .seconds(60))
            return Response()
        case .take: keep(request, context)
        case .partly: keep(request, context)
        }
        guard case .partly(let rejected, let message) = next else { return Response() }
        return .with { response in
            response.partialSuccess.rejectedSpans = rejected
            response.partialSuccess.errorMessage = message
        }
    }

    private func keep(_ request: Request, _ context: ServerContext) {
        state.withLock { state in
            state.requests.append(request)
            state.metadata.append(context.metadata)
            state.wasCompressed.append(context.isRequestCompressed)
        }
    }

    func start() async throws -> Int { try await server.start() }
    func stop() async { await server.shutdown() }

    var attempts: Int { state.withLock { $0.attempts } }
    var requests: [Request] { state.withLock { $0.requests } }
    var metadata: [Metadata] { state.withLock { $0.metadata } }
    var wasCompressed: [Bool] { state.withLock { $0.wasCompressed } }
    var spans: [Span] { requests.flatMap(\.resourceSpans).flatMap(\.scopeSpans).flatMap(\.spans) }
}
