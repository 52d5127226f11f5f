/// The times of a run, in nanoseconds on the monotonic clock.
struct RunTimes: Sendable {
    /// The start of the first call.
    let start: UInt64
    /// The end of the warm-up.
    let measureFrom: UInt64
    /// The end: no calls begin from then on.
    let end: UInt64

    init(_ plan: LoadPlan, start: UInt64) {
        self.start = start
        measureFrom = start + UInt64(plan.warmUp / .nanoseconds(1))
        end = measureFrom + UInt64(plan.duration / .nanoseconds(1))
    }
}
