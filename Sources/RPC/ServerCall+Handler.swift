import SwiftProtobuf

extension ServerCall {
    /// Runs a method's handler as a task of the call: here and now up to its first suspension, then on the call's
    /// executor. What it throws ends the call. `isOrigin`: whether the calls that it makes inherit from this one.
    ///
    /// An event loop runs the jobs of its tasks in the order of their arrival. The priority of a task, which the handler's
    /// task inherits from the task that started the call, doesn't change that order.
    ///
    /// Most calls have nothing to hand on. Theirs is a task of its own, with the handler as the first thing in it: what
    /// stands before that, or around it, makes the runtime look for the executor once more and costs an allocation.
    func runHandler<Input: Sendable>(
        _ handler: @escaping @Sendable (Input, ServerCall) async throws -> Void,
        with input: Input,
        isOrigin: Bool
    ) {
        let task =
            isOrigin && OnwardCall.hasUse(of: self)
            ? Task.immediate(executorPreference: executor) {
                self.handlerBegan()
                do {
                    try await OnwardCall.run(on: self) { try await handler(input, self) }
                } catch {
                    self.fail(thrown: error)
                }
                self.handlerEnded()
            }
            : Task.immediate(executorPreference: executor) {
                self.handlerBegan()
                do {
                    try await handler(input, self)
                } catch {
                    self.fail(thrown: error)
                }
                self.handlerEnded()
            }
        if !hasEnded { didStart(task) }
    }

    /// Sends the answer of a unary call and ends it with OK, unless the call has ended. The error is SwiftProtobuf's: the message
    /// cannot be encoded. Not a part of the handler's async closure, which would copy the message and take memory of the task.
    @inline(never)
    func respond(_ message: some SwiftProtobuf.Message) throws {
        respond(try MessageBuffer(encoding: message, as: format), trailers: trailingMetadata)
    }

    private func fail(thrown error: any Error) { fail(RPCError(thrown: error), trailers: trailingMetadata) }

    /// Ends the call for a request that is not what the method takes.
    func refuse(_ code: Status.Code, _ message: String, cause: (any Error)? = nil) {
        fail(RPCError(code, message, cause: cause), trailers: Metadata())
    }
}
