import TestWaits
import Testing

@testable import ServiceStore

struct ClockWindowTests {
    private typealias Window = ClockWindow<Int>

    /// A log with rows that become visible late, and a reader that reads pages of it.
    private struct Log {
        struct Row {
            let id: Int
            let microseconds: Int64
            let visibleFrom: Int64
        }

        private(set) var rows: [Row] = []
        private(set) var timesRead: [Int: Int] = [:]
        private(set) var window: Window

        init(begunAt now: Int64) { window = Window(end: now) }

        mutating func write(at microseconds: Int64, visibleAfter lateness: Int64) {
            rows.append(Row(id: rows.count, microseconds: microseconds, visibleFrom: microseconds + lateness))
        }

        /// Reads a page as the stores do, and uses only the first `used` rows of it. Returns whether there is more.
        mutating func read(now: Int64, limit: Int, used: Int) throws -> Bool {
            let leftOut = Set(window.leftOut)
            let page = rows.filter {
                $0.visibleFrom <= now && $0.microseconds >= window.start && !leftOut.contains($0.id)
            }
            .sorted { ($0.microseconds, $0.id) < ($1.microseconds, $1.id) }.prefix(limit)
            let part = page.prefix(used)
            for row in part { timesRead[row.id, default: 0] += 1 }
            let isMore = part.count == limit || part.count < page.count
            let advanced = window.advanced(
                by: part.map { Window.Row(id: $0.id, microseconds: $0.microseconds) }[...],
                now: isMore ? nil : now
            )
            window = try #require(advanced)
            return isMore
        }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `Each row that becomes visible in time is read once`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var now: Int64 = 1_700_000_000_000_000
        var log = Log(begunAt: now)
        for _ in 0..<600 {
            now += .random(in: 1_000...400_000, using: &random)
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                // Mostly soon, and now and then almost too late.
                let longest: Int64 = Int.random(in: 0..<20, using: &random) == 0 ? Window.latenessMax : 50_000
                log.write(
                    at: now - .random(in: 0...900, using: &random),
                    visibleAfter: .random(in: 0...longest, using: &random)
                )
            }
            // Servers whose clocks differ answer in turn.
            if Int.random(in: 0..<20, using: &random) == 0 { now -= .random(in: 0...2_000_000, using: &random) }
            // Now and then nobody can read for long.
            if Int.random(in: 0..<100, using: &random) == 0 { now += .random(in: 0...200_000_000, using: &random) }
            var reads = 0
            while try log.read(
                now: now,
                limit: .random(in: 1...9, using: &random),
                used: .random(in: 1...9, using: &random)
            ) {
                reads += 1
                #expect(reads < 5_000)
                guard reads < 5_000 else { return }
            }
        }
        now += Window.latenessMax
        // The first read ends the pause, and the second has all late rows.
        for _ in 0..<2 { while try log.read(now: now, limit: 50, used: 50) {} }
        #expect(log.rows.count > 900)
        for row in log.rows { #expect(log.timesRead[row.id] == 1, "\(row)") }
    }

    @Test func `An end that a client hands back has all behind it`() {
        let end: Int64 = 1_700_000_000_000_000
        let window = Window(end: end)
        #expect(window.missedFrom == end - Window.latenessMax)
        #expect(window.start < end && window.leftOut.isEmpty)
        for end in [Window.latenessMax, 253_402_300_799_000_000] {
            #expect(Window.isUsable(end: end))
            _ = (Window(end: end).start, Window(end: end).missedFrom)
        }
        for end in [Int64.min, -1, 0, Window.latenessMax - 1, 253_402_300_799_000_001, .max] {
            #expect(!Window.isUsable(end: end))
        }
    }

    @Test func `After a clock was set back reading begins anew`() throws {
        let window = Window(end: 1_700_000_000_000_000)
        #expect(window.advanced(by: [], now: window.end - Window.stepBackMax - 1) == nil)
        // A smaller step: rows of the other clock are read at once, and late ones of both.
        let back = try #require(window.advanced(by: [], now: window.end - Window.stepBackMax))
        #expect(back.start == back.end - Window.latenessMax)
        let again = try #require(back.advanced(by: [], now: back.end + 1_000))
        #expect(again.start > back.end - 3_000_000)
    }

    @Test func `What is known is bounded`() throws {
        let window = Window(end: 1_700_000_000_000_000)
        let rows = (0...Window.knownMax).map { Window.Row(id: $0, microseconds: window.end) }
        #expect(window.advanced(by: rows[...], now: window.end) == nil)
        let most = try #require(window.advanced(by: rows.dropLast()[...], now: window.end))
        #expect(most.leftOut.count == Window.knownMax)
        #expect(Window(end: window.end, known: rows).leftOut.count == Window.knownMax)
    }
}
