import Tracing

extension InstrumentationSystem {
    /// The tracer that the program installed with `InstrumentationSystem.bootstrap`; nil where it installed none.
    ///
    /// It takes a lock. So servers, channels and database clients ask once, when they are configured, and keep the answer:
    /// without a tracer a call then costs one look at a constant. A tracer that is installed later is not seen by them.
    public static var installedTracer: (any Tracer)? {
        let tracer = tracer
        return tracer is NoOpTracer ? nil : tracer
    }
}
