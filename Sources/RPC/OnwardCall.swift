/// What a handler's call hands on to the calls that the handler makes: its deadline, so that nobody works for a caller
/// who has gone, and its trace context (`TraceContext`), so that a trace shows the whole way.
///
/// It travels in a task-local value, which child tasks and `Task { }` inherit. As that costs some 0.15 µs a call, it is
/// only set where the call has something to hand on, and not by a router whose handlers call nobody
/// (`Router.init(interceptors:makesOnwardCalls:)`). For transports.
public enum OnwardCall {
    @TaskLocal private static var origin: ServerCall?

    /// The options of a call that is being made, with what the call whose handler makes it hands on. As they are outside
    /// of a handler, and where they ask not to inherit.
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
