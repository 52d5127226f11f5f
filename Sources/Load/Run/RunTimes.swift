/// When a run's parts begin and end, in nanoseconds on the monotonic clock.
struct RunTimes: Sendable {
    /// The first call.
    let start: UInt64
    /// Where warm-up ends.
    let measureFrom: UInt64
    /// No call begins from here on.
    let end: UInt64

    init(_ plan: LoadPlan, start: UInt64) {
        self.start = start
        measureFrom = start + UInt64(plan.warmUp / .nanoseconds(1))
        end = measureFrom + UInt64(plan.duration / .nanoseconds(1))
    }
}
