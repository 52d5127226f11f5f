import OTLP
import Testing

struct TraceSamplerTests {
    @Test func `Always on and off`() {
        for low in [0, 1, UInt64.max / 2, .max] {
            #expect(TraceSampler.alwaysOn.samples(traceLow: low, parentIsSampled: false))
            #expect(!TraceSampler.alwaysOff.samples(traceLow: low, parentIsSampled: true))
        }
    }

    /// The parent decides where there is one, and the root's rule where there is none.
    @Test func `The parent decides`() {
        let sampler = TraceSampler.parentBased(.alwaysOff)
        #expect(sampler.samples(traceLow: 5, parentIsSampled: true))
        #expect(!sampler.samples(traceLow: 5, parentIsSampled: false))
        #expect(!sampler.samples(traceLow: 5, parentIsSampled: nil))
        #expect(TraceSampler.parentBased(.alwaysOn).samples(traceLow: 5, parentIsSampled: nil))
    }

    /// The same traces at each process: those whose last 63 bits but one are below the ratio's share of them.
    @Test func `Ratio is a share of the trace IDs`() {
        let sampler = TraceSampler.ratio(0.25)
        #expect(sampler.samples(traceLow: 0, parentIsSampled: nil))
        #expect(sampler.samples(traceLow: (UInt64.max >> 2) - 1, parentIsSampled: false))
        #expect(!sampler.samples(traceLow: 1 << 62, parentIsSampled: true))
        #expect(!sampler.samples(traceLow: .max, parentIsSampled: true))
        let sampled = (0..<10_000).count { _ in sampler.samples(traceLow: .random(in: 0 ... .max), parentIsSampled: nil)
        }
        #expect(2000...3000 ~= sampled)
        #expect(TraceSampler.ratio(1).samples(traceLow: .max, parentIsSampled: nil))
        #expect(!TraceSampler.ratio(0).samples(traceLow: 0, parentIsSampled: nil))
    }
}
