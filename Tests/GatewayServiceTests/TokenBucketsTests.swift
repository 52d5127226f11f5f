import Foundation
import Testing

@testable import GatewayService

struct TokenBucketsTests {
    private static let second: UInt64 = 1_000_000_000

    private static func buckets(_ perSecond: Double, _ burst: Double, slots: Int = 1024) -> TokenBuckets<Int> {
        TokenBuckets(RequestRate(perSecond: perSecond, burst: burst), slotsPerRow: slots)
    }

    @Test func `A burst is allowed and then the rate`() {
        var buckets = Self.buckets(2, 3)
        for _ in 0..<3 { #expect(buckets.take(1, nowNanoseconds: Self.second) == nil) }
        #expect(buckets.take(1, nowNanoseconds: Self.second) == .milliseconds(500))
        let later = Self.second + Self.second / 2
        #expect(buckets.take(1, nowNanoseconds: later - 1) == .nanoseconds(1))
        #expect(buckets.take(1, nowNanoseconds: later) == nil)
        #expect(buckets.take(1, nowNanoseconds: later) == .milliseconds(500))
    }

    @Test func `A bucket never holds more than the burst`() {
        var buckets = Self.buckets(10, 2)
        #expect(buckets.take(1, nowNanoseconds: 0) == nil)
        let later = 1000 * Self.second
        #expect(buckets.take(1, nowNanoseconds: later) == nil)
        #expect(buckets.take(1, nowNanoseconds: later) == nil)
        #expect(buckets.take(1, nowNanoseconds: later) != nil)
    }

    @Test func `A clock that steps back adds no tokens`() {
        var buckets = Self.buckets(1, 2)
        #expect(buckets.take(1, nowNanoseconds: 5 * Self.second) == nil)
        #expect(buckets.take(1, nowNanoseconds: 5 * Self.second) == nil)
        #expect(buckets.take(1, nowNanoseconds: 4 * Self.second) != nil)
    }

    @Test func `A refusal takes no token`() {
        var buckets = Self.buckets(1, 1)
        #expect(buckets.take(1, nowNanoseconds: 0) == nil)
        for _ in 0..<100 { #expect(buckets.take(1, nowNanoseconds: 1) != nil) }
        #expect(buckets.take(1, nowNanoseconds: Self.second) == nil)
    }

    /// An attacker with many addresses can't evict their own empty bucket from the table.
    @Test func `No key can evict its own bucket`() {
        var buckets = Self.buckets(0.001, 1)
        #expect(buckets.take(-1, nowNanoseconds: 0) == nil)
        for key in 0..<100_000 { _ = buckets.take(key, nowNanoseconds: 0) }
        #expect(buckets.take(-1, nowNanoseconds: 0) != nil)
    }

    /// Keys that share slots never get more than separate buckets would give them.
    @Test func `Sharing slots gives no key more`() {
        for slots in [1, 2, 8, 64] {
            var buckets = Self.buckets(10, 5, slots: slots)
            var generator = SystemRandomNumberGenerator()
            var admitted: [Int: Int] = [:]
            var now: UInt64 = 0
            for _ in 0..<5000 {
                now += UInt64.random(in: 0...(2 * Self.second / 1000), using: &generator)
                let key = Int.random(in: 0..<40, using: &generator)
                if buckets.take(key, nowNanoseconds: now) == nil { admitted[key, default: 0] += 1 }
            }
            let most = 5 + Double(now) / 1e9 * 10
            #expect(admitted.values.allSatisfy { Double($0) <= most + 1e-6 })
        }
    }

    @Test func `Most addresses are unaffected by others that use up their tokens`() {
        var buckets = Self.buckets(1, 2, slots: 65_536)
        for key in 0..<1000 {
            while buckets.take(key, nowNanoseconds: 0) == nil {}
        }
        let innocent = 10_000..<20_000
        let refused = innocent.count { buckets.take($0, nowNanoseconds: 0) != nil }
        // Innocent addresses use up each other's slots a little too; 1 in 4,300 are 2.3, and 30 would be significant.
        #expect(refused < 30)
    }

    /// If these were resident from the start, they would take four times the memory that other tests may take meanwhile.
    @Test func `Unused slots take no memory`() throws {
        let before = try Self.residentBytes()
        var buckets = Self.buckets(1, 1, slots: 1 << 24)
        for key in 0..<100 { #expect(buckets.take(key, nowNanoseconds: 0) == nil) }
        #expect(try Self.residentBytes() - before < 1 << 26)
    }

    /// The resident memory of this process: the second number of `/proc/self/statm`, in pages.
    private static func residentBytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return try #require(Int(text.split(separator: " ")[1])) * sysconf(Int32(_SC_PAGESIZE))
    }
}
