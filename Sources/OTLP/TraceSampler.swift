/// Decides at the start of a span whether it is recorded (OpenTelemetry SDK, "Sampler").
public struct TraceSampler: Sendable, Hashable {
    private let followsParent: Bool
    /// A trace is sampled if the last 64 bits of its id, halved, are below this.
    private let bound: UInt64

    private init(followsParent: Bool, bound: UInt64) {
        self.followsParent = followsParent
        self.bound = bound
    }

    /// Every span.
    public static let alwaysOn = TraceSampler(followsParent: false, bound: 1 << 63)
    /// No span.
    public static let alwaysOff = TraceSampler(followsParent: false, bound: 0)

    /// This share of all traces, from 0 to 1. The trace's id decides, so that processes with the same ratio agree.
    public static func ratio(_ ratio: Double) -> TraceSampler {
        let share = min(max(ratio, 0), 1) * Double(UInt64(1) << 63)
        return TraceSampler(followsParent: false, bound: UInt64(share))
    }

    /// Like the parent; without a parent the other sampler decides.
    public static func parentBased(_ root: TraceSampler) -> TraceSampler {
        TraceSampler(followsParent: true, bound: root.bound)
    }

    /// Whether a span is recorded.
    ///
    /// - Parameters:
    ///   - traceLow: the last 64 bits of the trace's id.
    ///   - parentIsSampled: whether the parent is sampled; nil without a parent.
    public func samples(traceLow: UInt64, parentIsSampled: Bool?) -> Bool {
        if followsParent, let parentIsSampled { return parentIsSampled }
        return traceLow >> 1 < bound
    }
}
