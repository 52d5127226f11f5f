import RPC
import Testing

struct BackoffTests {
    private let backoff = Backoff(first: .milliseconds(50), max: .seconds(1))

    @Test func `The wait doubles with each failure up to its maximum`() {
        let waits = (1...7).map { backoff.wait(failures: $0, random: 0) }
        #expect(waits == [25, 50, 100, 200, 400, 500, 500].map { .milliseconds($0) })
        #expect(backoff.wait(failures: 1_000_000, random: 0) == .milliseconds(500))
    }

    @Test func `The jitter spreads it over the upper half of the bound`() {
        #expect(backoff.wait(failures: 1, random: 0.5) == .microseconds(37_500))
        #expect(backoff.wait(failures: 1000, random: 0.999_999) < .seconds(1))
        #expect(backoff.wait(failures: 1000, random: 0.999_999) > .milliseconds(999))
    }

    @Test func `A count below one is the first failure`() {
        #expect(backoff.wait(failures: 0, random: 0) == .milliseconds(25))
        #expect(backoff.wait(failures: -1, random: 0) == .milliseconds(25))
    }
}
