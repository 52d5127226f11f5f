/// What the calls that a handler makes inherit from the handler's own call: its deadline, so that nobody works for a caller
/// who has gone, and its trace (`TraceContext`).
///
/// It travels in a task-local value, which child tasks and `Task { }` inherit. That costs some 0.15 µs a call. So it is set
/// only for a call that has a deadline or a trace, and never by a router whose handlers call nobody
/// (`Router.init(interceptors:makesOnwardCalls:)`). For transports.
public enum OnwardCall {
    @TaskLocal private static var origin: ServerCall?

    /// The options of a call that is being made, with what it inherits. Unchanged outside of a handler, and if
    /// `CallOptions.inheritsFromCall` is false.
    public static func options(_ options: CallOptions) -> CallOptions {
        guard options.inheritsFromCall, let origin else { return options }
        var options = options
        if let outer = origin.deadline { options.deadline = min(outer, options.deadline ?? outer) }
        if !origin.metadata.isEmpty, options.metadata.first(TraceContext.parentName) == nil,
            let trace = TraceContext(origin.metadata)
        {
            trace.child().add(to: &options.metadata)
        }
        return options
    }

    /// Whether a call has something to hand on.
    static func hasUse(of call: ServerCall) -> Bool { call.deadline != nil || !call.metadata.isEmpty }

    /// Runs a handler so that the calls it makes inherit from `call`.
    static func run(on behalfOf: ServerCall, _ handler: () async throws -> Void) async throws {
        try await $origin.withValue(behalfOf, operation: handler)
    }
}
