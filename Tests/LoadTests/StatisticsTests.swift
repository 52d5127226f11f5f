import Testing

@testable import Load

struct StatisticsTests {
    @Test func `Percentiles of a histogram agree with those of the sorted values to three digits`() {
        var random = SplitMix(state: 7)
        var histogram = LatencyHistogram()
        // From 1 µs to about 17 s, more evenly over the magnitudes than latencies ever are.
        let values = (0..<50_000).map { _ in (1000 + random.next() % 1000) << (random.next() % 24) }
        for value in values { histogram.record(nanoseconds: value) }
        let sorted = values.sorted()
        for percentile in [0.0, 1, 10, 25, 50, 75, 90, 99, 99.9, 99.99, 100] {
            let rank = max(1, Int((percentile / 100 * Double(sorted.count)).rounded(.up)))
            let exact = Double(sorted[rank - 1])
            let told = Double(histogram.nanoseconds(percentile: percentile))
            #expect(abs(told - exact) <= exact / 1000, "p\(percentile): \(told) for \(exact)")
        }
        #expect(histogram.maxNanoseconds >= sorted[sorted.count - 1])
        #expect(histogram.count == 50_000)
    }

    @Test func `A histogram without calls has zeros; a call that is too long counts as the longest`() {
        var histogram = LatencyHistogram()
        #expect(histogram.nanoseconds(percentile: 99) == 0)
        #expect(histogram.minNanoseconds == 0 && histogram.maxNanoseconds == 0 && histogram.meanNanoseconds == 0)
        histogram.record(nanoseconds: .max)
        #expect(histogram.count == 1)
        #expect(histogram.maxNanoseconds >= LatencyHistogram.nanosecondsMax)
    }

    @Test func `Failures are counted by code and reason, have no latency, and are merged`() {
        var one = CallStatistics()
        one.record(latencyNanoseconds: 5, failure: nil)
        one.record(latencyNanoseconds: 5, failure: CallFailure(code: "UNAVAILABLE", reason: "away"))
        var other = CallStatistics()
        for reason in ["away", "SESSION_REVOKED", "away"] {
            other.record(latencyNanoseconds: 5, failure: CallFailure(code: "UNAVAILABLE", reason: reason))
        }
        one.add(other)
        #expect(one.callCount == 5)
        #expect(one.latency.count == 1)
        #expect(one.failures.sorted.map(\.count) == [3, 1])
        #expect(one.failures.sorted.map(\.failure.reason) == ["away", "SESSION_REVOKED"])
    }

    @Test func `Kinds of failures are bounded, and none is lost`() {
        var counts = FailureCounts()
        for number in 0..<1000 { counts.add(CallFailure(code: "X", reason: "\(number)")) }
        #expect(counts.total == 1000)
        #expect(counts.sorted.count == FailureCounts.kindsMax + 1)
        #expect(counts.sorted.first?.count == 1000 - FailureCounts.kindsMax)
    }

    @Test func `An expired token asks for a refresh; a revoked session is over, after a lost answer it is not`() {
        #expect(CallFailure(code: "401", reason: "ACCESS_TOKEN_EXPIRED").asksForRefresh)
        #expect(!CallFailure(code: "401", reason: "ACCESS_TOKEN_EXPIRED").endsSession)
        #expect(CallFailure(code: "UNAUTHENTICATED", reason: "SESSION_REVOKED").endsSession)
        #expect(!CallFailure(code: "UNAVAILABLE", reason: "away").endsSession)
        #expect(CallFailure(code: "X", reason: "two\nlines" + String(repeating: "x", count: 500)).reason.count == 120)
    }
}

struct TimelineTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `Calls are in the second in which they ended, and a second without calls is there`() {
        var timeline = Timeline(startNanoseconds: 0, endNanoseconds: 4 * Self.second)
        timeline.record(latencyNanoseconds: 1, failed: false, nowNanoseconds: 0)
        timeline.record(latencyNanoseconds: 1, failed: true, nowNanoseconds: Self.second - 1)
        timeline.record(latencyNanoseconds: 1, failed: false, nowNanoseconds: 2 * Self.second)
        #expect(timeline.takeFinished(nowNanoseconds: 2 * Self.second).map(\.latency.count) == [1, 0])
        #expect(timeline.takeFinished(nowNanoseconds: 2 * Self.second).isEmpty)
        timeline.record(latencyNanoseconds: 1, failed: false, nowNanoseconds: 4 * Self.second)
        let rest = timeline.takeAll()
        #expect(rest.map(\.index) == [2, 3])
        #expect(rest.map(\.latency.count) == [1, 0])
        #expect(timeline.afterEndCount == 1)
    }

    @Test func `An earlier end shortens it`() {
        var timeline = Timeline(startNanoseconds: 0, endNanoseconds: 60 * Self.second)
        timeline.record(latencyNanoseconds: 1, failed: false, nowNanoseconds: Self.second / 2)
        timeline.end(atNanoseconds: Self.second * 3 / 2)
        timeline.record(latencyNanoseconds: 1, failed: false, nowNanoseconds: 5 * Self.second)
        #expect(timeline.takeAll().map(\.latency.count) == [1, 0])
        #expect(timeline.afterEndCount == 1)
    }

    @Test func `A second is complete when every loop has reported it, and its rate is for the measured part`() {
        var part = SecondRecord(index: 0)
        part.failureCount = 2
        for latency: UInt64 in [100, 200, 300] { part.latency.record(nanoseconds: latency) }
        var board = SecondsBoard(laneCount: 2)
        board.add([part], measuredNanoseconds: Self.second / 2)
        #expect(board.seconds.isEmpty)
        board.add([part], measuredNanoseconds: Self.second / 2)
        #expect(board.seconds.count == 1)
        #expect(board.seconds.first?.ratePerSecond == 12)
        #expect(board.seconds.first?.failuresPerSecond == 8)
        #expect(board.seconds.first?.p50Nanoseconds == 200)
        #expect(board.errorCount == 4)
    }
}

/// The same numbers in each run (SplitMix64).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
