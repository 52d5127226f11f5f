import Testing

@testable import GatewayService

struct NewsAgeTests {
    /// The age of news that a sender whose clock says `clock` at our zero read at `readAt` and that arrived at `arrivedAt`, in milliseconds.
    private func age(_ age: inout NewsAge, readAt: Int64, arrivedAt: Int64, clock: Int64 = 1_700_000_000_000) -> Int64 {
        let result = age.age(sentAtMilliseconds: clock + readAt, arrivedAt: .milliseconds(arrivedAt))
        return Int64(result / .milliseconds(1))
    }

    @Test(arguments: [0, 1_700_000_000_000, -86_400_000, 9_000_000_000_000_000, -9_000_000_000_000_000] as [Int64])
    func `The sender's clock may differ by any amount`(clock: Int64) {
        var news = NewsAge()
        #expect(age(&news, readAt: 0, arrivedAt: 1, clock: clock) == 0)
        #expect(age(&news, readAt: 100, arrivedAt: 101, clock: clock) == 0)
        #expect(age(&news, readAt: 200, arrivedAt: 900, clock: clock) == 699)
    }

    @Test func `News that waited on their way are as old as they waited`() {
        var news = NewsAge()
        for beat in 0..<10 { #expect(age(&news, readAt: Int64(beat) * 100, arrivedAt: Int64(beat) * 100 + 5) == 0) }
        // The receiver was paused for ten seconds, and reads what waited.
        #expect(age(&news, readAt: 1_000, arrivedAt: 11_000) == 9_995)
        #expect(age(&news, readAt: 10_900, arrivedAt: 11_000) == 95)
        #expect(age(&news, readAt: 11_000, arrivedAt: 11_005) == 0)
    }

    @Test(arguments: [25_000, 45_000, 600_000] as [Int64]) func `After a long pause what waited is as old as it is`(
        pause: Int64
    ) {
        var news = NewsAge()
        for beat in 0..<10 { #expect(age(&news, readAt: Int64(beat) * 100, arrivedAt: Int64(beat) * 100 + 5) == 0) }
        #expect(age(&news, readAt: 1_000, arrivedAt: 1_000 + pause) == pause - 5)
        #expect(age(&news, readAt: 1_000 + pause, arrivedAt: 1_005 + pause) == 0)
    }

    @Test func `A faster message shows that those before were older`() {
        var news = NewsAge()
        #expect(age(&news, readAt: 0, arrivedAt: 80) == 0)
        #expect(age(&news, readAt: 100, arrivedAt: 101) == 0)
        #expect(age(&news, readAt: 200, arrivedAt: 280) == 79)
    }

    @Test(arguments: [-1_000, 1_000]) func `A clock that is set is followed after two windows`(step: Int64) {
        var news = NewsAge()
        var ages: [Int64] = []
        for beat in 0..<1_000 {
            let now = Int64(beat) * 100
            ages.append(age(&news, readAt: now + (beat < 100 ? 0 : step), arrivedAt: now))
        }
        #expect(ages[..<100].allSatisfy { $0 == 0 })
        // Set back, the news look older: identity is asked meanwhile. Set forward, they don't.
        #expect(ages[100] == max(0, -step))
        #expect(ages[600...].allSatisfy { $0 == 0 })
        #expect(ages.allSatisfy { $0 >= 0 })
    }

    @Test func `A clock that drifts makes news hardly older`() {
        var news = NewsAge()
        // Ours is faster by 500 millionths for an hour.
        let ages = (0..<36_000).map { beat in
            age(&news, readAt: Int64(beat) * 100 - Int64(beat) / 20, arrivedAt: Int64(beat) * 100)
        }
        #expect((ages.max() ?? 0) <= 20)
    }
}
