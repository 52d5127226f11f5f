import RPC

extension ServerContext {
    /// Runs a method's body. Whatever it throws becomes an error that callers may see.
    ///
    /// - Parameter mayBeRepeated: whether the call has the effect of one however often it is made. If not, an unknown outcome
    ///   is returned as OUTCOME_UNKNOWN. Nil stands for the proto's `idempotency_level`.
    @inlinable
    public nonisolated(nonsending) func answer<Response>(
        mayBeRepeated: Bool? = nil,
        _ body: nonisolated(nonsending) () async throws -> Response
    ) async throws(RPCError) -> Response {
        do {
            return try await body()
        } catch {
            throw RPCError(answering: error, mayBeRepeated: mayBeRepeated ?? method.isIdempotent)
        }
    }
}

extension RPCError {
    /// The response to callers for any error that a method threw.
    ///
    /// - Parameter mayBeRepeated: whether the call has the effect of one however often it is made.
    public init(answering error: any Error, mayBeRepeated: Bool) {
        switch error {
        case let error as any AnswerableError: self = error.rpcError(mayBeRepeated: mayBeRepeated)
        default: self.init(thrown: error)
        }
    }
}
