import Testing

@testable import GatewayService

@Suite struct TokenBucketsTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func aBurstIsLetInAndThenTheRate() {
        var buckets = TokenBuckets<Int>(perSecond: 2, burst: 3, keysMax: 10)
        for _ in 0..<3 { #expect(buckets.take(1, nowNanoseconds: Self.second) == nil) }
        #expect(buckets.take(1, nowNanoseconds: Self.second) == .milliseconds(500))
        #expect(buckets.take(2, nowNanoseconds: Self.second) == nil)
        let later = Self.second + Self.second / 2
        #expect(buckets.take(1, nowNanoseconds: later) == nil)
        #expect(buckets.take(1, nowNanoseconds: later) == .milliseconds(500))
    }

    @Test func aBucketNeverHoldsMoreThanTheBurst() {
        var buckets = TokenBuckets<Int>(perSecond: 10, burst: 2, keysMax: 10)
        #expect(buckets.take(1, nowNanoseconds: 0) == nil)
        let later = 1000 * Self.second
        #expect(buckets.take(1, nowNanoseconds: later) == nil)
        #expect(buckets.take(1, nowNanoseconds: later) == nil)
        #expect(buckets.take(1, nowNanoseconds: later) != nil)
    }

    @Test func aClockThatStepsBackTakesNothing() {
        var buckets = TokenBuckets<Int>(perSecond: 1, burst: 2, keysMax: 10)
        #expect(buckets.take(1, nowNanoseconds: 5 * Self.second) == nil)
        #expect(buckets.take(1, nowNanoseconds: 4 * Self.second) == nil)
        #expect(buckets.take(1, nowNanoseconds: 4 * Self.second) != nil)
    }

    @Test func theTableIsBounded() {
        var buckets = TokenBuckets<Int>(perSecond: 1, burst: 1, keysMax: 100)
        for key in 0..<10_000 {
            #expect(buckets.take(key, nowNanoseconds: 0) == nil)
            #expect(buckets.count <= 100)
        }
    }

    @Test func whoKeepsComingIsNotForgotten() {
        var buckets = TokenBuckets<Int>(perSecond: 0.001, burst: 1, keysMax: 100)
        #expect(buckets.take(-1, nowNanoseconds: 0) == nil)
        for key in 0..<10_000 {
            _ = buckets.take(key, nowNanoseconds: 0)
            #expect(buckets.take(-1, nowNanoseconds: 0) != nil)
        }
    }
}
