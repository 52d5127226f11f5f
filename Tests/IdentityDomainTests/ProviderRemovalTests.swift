import IdentityDomain
import Testing

/// When a provider may be taken from an account.
struct ProviderRemovalTests {
    private static let day = ProviderRemoval.waitMilliseconds
    private static let now: Int64 = 1_800_000_000_000
    private static let hour: Int64 = 3_600_000

    /// Ages in hours.
    private func possibleFrom(removed: Int64, asking: Int64, remaining: [Int64]) -> Int64? {
        func time(_ hours: Int64) -> Int64 { Self.now - hours * Self.hour }
        let times = ProviderRemoval.LinkTimes(
            removed: time(removed),
            asking: time(asking),
            remaining: remaining.map(time)
        )
        return ProviderRemoval.possibleFrom(times, nowMilliseconds: Self.now).map { ($0 - Self.now) / Self.hour }
    }

    @Test func `A session of a provider linked today can't remove an older one`() {
        #expect(possibleFrom(removed: 1_000, asking: 1, remaining: [1, 500]) == 23)
        #expect(possibleFrom(removed: 1_000, asking: 23, remaining: [23]) == 1)
        // Also in an account that began today.
        #expect(possibleFrom(removed: 2, asking: 1, remaining: [1]) == 23)
        #expect(possibleFrom(removed: 1_000, asking: 24, remaining: [24]) == nil)
    }

    @Test func `Only recently linked providers may not remain, whichever session asks`() {
        #expect(possibleFrom(removed: 1_000, asking: 1_000, remaining: [1]) == 23)
        #expect(possibleFrom(removed: 1_000, asking: 1_000, remaining: [1, 3]) == 21)
        #expect(possibleFrom(removed: 24, asking: 24, remaining: [5]) == 19)
        #expect(possibleFrom(removed: 1_000, asking: 1_000, remaining: [1, 30]) == nil)
    }

    @Test func `A recently linked provider can be removed at any time`() {
        // The owner takes a thief's away; a person changes their mind; an account that began today changes its provider.
        #expect(possibleFrom(removed: 1, asking: 1_000, remaining: [1_000]) == nil)
        #expect(possibleFrom(removed: 1, asking: 1, remaining: [1_000]) == nil)
        #expect(possibleFrom(removed: 5, asking: 5, remaining: [1]) == nil)
        #expect(possibleFrom(removed: 1, asking: 5, remaining: [5]) == nil)
        // Both began at the same moment.
        #expect(possibleFrom(removed: 1, asking: 1, remaining: [1]) == nil)
    }
}
