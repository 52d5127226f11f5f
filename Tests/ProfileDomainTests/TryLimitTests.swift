import ProfileDomain
import Testing

struct TryLimitTests {
    private let limit = TryLimit(triesMax: 3, windowMilliseconds: 1_000)

    @Test func `Tries are allowed up to the limit`() {
        var count: TryLimit.Count?
        for tries in 0..<3 {
            #expect(limit.waitMilliseconds(after: count, nowMilliseconds: Int64(tries)) == nil)
            count = limit.counting(count, nowMilliseconds: Int64(tries))
        }
        #expect(count == TryLimit.Count(windowStartMilliseconds: 0, tries: 3))
        #expect(limit.waitMilliseconds(after: count, nowMilliseconds: 3) == 997)
        #expect(limit.waitMilliseconds(after: count, nowMilliseconds: 999) == 1)
    }

    @Test func `A new window begins with nothing`() {
        let full = TryLimit.Count(windowStartMilliseconds: 0, tries: 3)
        #expect(limit.waitMilliseconds(after: full, nowMilliseconds: 1_000) == nil)
        #expect(
            limit.counting(full, nowMilliseconds: 1_000)
                == TryLimit.Count(windowStartMilliseconds: 1_000, tries: 1)
        )
    }

    @Test func `A clock that went back never makes the wait longer than a window`() {
        let full = TryLimit.Count(windowStartMilliseconds: 50_000, tries: 3)
        #expect(limit.waitMilliseconds(after: full, nowMilliseconds: 0) == 1_000)
    }
}
