extension ServerCall {
    /// Runs a handler as a task of the call: here and now up to its first suspension, then on the call's executor.
    /// What it throws ends the call.
    func runHandler(_ handler: @escaping @Sendable () async throws -> Void) {
        let task = Task.immediate(executorPreference: executor) {
            do {
                if OnwardCall.hasUse(of: self) {
                    try await OnwardCall.run(on: self, handler)
                } else {
                    try await handler()  // a frame less
                }
            } catch {
                self.fail(RPCError(thrown: error), trailers: self.trailingMetadata)
            }
        }
        if !hasEnded { didStart(task) }
    }

    /// Ends the call for a request that is not what the method takes.
    func refuse(_ code: Status.Code, _ message: String, cause: (any Error)? = nil) {
        fail(RPCError(code, message, cause: cause), trailers: Metadata())
    }
}
