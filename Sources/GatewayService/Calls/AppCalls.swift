import API
import HTTPJSON
import HTTPTypes
import Logging
import RPC
import ServiceKit

/// What surrounds every RPC of apps, as `RouteHandler` surrounds every route: the call's id and deadline, the limits of the
/// client's address, errors that disclose no internals, one log line and one count.
struct AppCalls: Sendable {
    /// The metadata that names a call in our logs, in requests and in answers.
    static let requestIDKey = "x-request-id"

    let rateLimit: RateLimit
    /// How long a call may take where its client doesn't say less.
    let timeLimit: Duration
    let logger: Logger
    let metrics: AppCallMetrics
    /// Gives clients that prove possession of a key nonces; nil where there are none.
    var keyProofs: KeyProofs?
    var makeRequestID: @Sendable () -> String = RequestName.make

    /// Answers a call by `body`.
    ///
    /// - Throws: the error for its client.
    func answer<Response: Sendable>(
        _ context: ServerContext,
        _ body: (Caller) async throws -> Response
    ) async throws(RPCError) -> Response {
        let start = ContinuousClock.now
        let call = AppCall(context, timeLimit: timeLimit, logger: logger, makeRequestID: makeRequestID)
        context.setRequestID(call.requestID)
        context.setTrailingMetadata(trailer(of: call))
        do {
            try rateLimit.admit(.rpc(call), isAuth: context.method.service == AuthServiceMethods.serviceName)
            let response = try await body(.rpc(call))
            note(context, call, start, nil)
            return response
        } catch {
            let told = RPCError(answering: error)
            note(context, call, start, told)
            throw told
        }
    }

    /// The metadata after each answer: the call's id, and the nonce for a client's next proof.
    func trailer(of call: AppCall) -> Metadata {
        var metadata = Metadata([Self.requestIDKey: call.requestID])
        if let field = keyProofs?.nonceField(answering: call.headers) {
            metadata.add(field.name.canonicalName, field.value)
        }
        return metadata
    }

    /// The error for a call with a malformed message. Nothing is done for the call, but it counts as any other.
    func refusal(of context: ServerContext, _ error: RPCError) -> RPCError {
        let call = AppCall(context, timeLimit: timeLimit, logger: logger, makeRequestID: makeRequestID)
        context.setTrailingMetadata(trailer(of: call))
        var told = error
        // Faults in a client's bytes don't belong in the log.
        told.cause = nil
        do {
            try rateLimit.admit(.rpc(call), isAuth: context.method.service == AuthServiceMethods.serviceName)
        } catch {
            told = RPCError(answering: error)
        }
        note(context, call, .now, told)
        return told
    }

    /// One line a call and one count: method and outcome, nothing of a person.
    private func note(
        _ context: ServerContext,
        _ call: AppCall,
        _ start: ContinuousClock.Instant,
        _ error: RPCError?
    ) {
        let took = start.duration(to: .now).wholeNanoseconds
        let logger = call.logger
        let code = error?.code ?? .ok
        // A stream lasts for as long as its client wants.
        metrics.count(context.method, code, nanoseconds: context.method.kind == .unary ? took : nil)
        if let error, let cause = error.cause {
            let level: Logger.Level = code.isServerFailure ? .error : .debug
            logger.log(level: level, "call failed", metadata: ["code": "\(code)", "cause": "\(cause)"])
        }
        var facts: Logger.Metadata = [
            "method": "\(context.method.path)",
            "code": "\(code)",
            "microseconds": .stringConvertible(took / 1000),
        ]
        if let reason = error?.reason { facts["reason"] = "\(reason)" }
        logger.info("call", metadata: facts)
    }
}
