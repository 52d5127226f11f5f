import Testing

@testable import LocalStack

/// When programs that have ended are started again.
struct ProgramRestartsTests {
    let start = ContinuousClock.now

    /// The waits of a program that ends as soon as it is started.
    func waits(_ count: Int, of name: String, in restarts: inout ProgramRestarts, from: ContinuousClock.Instant)
        -> [Duration]
    {
        var now = from
        return (0..<count).compactMap { _ in
            guard case .announce(let wait) = restarts.next(name, now: now) else { return nil }
            now += wait
            guard restarts.next(name, now: now) == .start else { return nil }
            return wait
        }
    }

    @Test func `The wait doubles up to the longest`() {
        var restarts = ProgramRestarts()
        let waits = waits(9, of: "invites", in: &restarts, from: start)
        #expect(waits.prefix(4) == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])
        #expect(waits.last == ProgramRestarts.longestWait && waits.count == 9)
    }

    @Test func `A program is started when its wait is over, and no sooner`() {
        var restarts = ProgramRestarts()
        #expect(restarts.next("invites", now: start) == .announce(ProgramRestarts.firstWait))
        #expect(restarts.next("invites", now: start + .milliseconds(499)) == .wait)
        #expect(restarts.next("invites", now: start + .milliseconds(500)) == .start)
    }

    @Test func `After a good run the first wait counts again`() {
        var restarts = ProgramRestarts()
        _ = waits(5, of: "invites", in: &restarts, from: start)
        let later = start + .seconds(20) + ProgramRestarts.goodRun
        #expect(restarts.next("invites", now: later) == .announce(ProgramRestarts.firstWait))
    }

    @Test func `Programs wait each for itself`() {
        var restarts = ProgramRestarts()
        _ = waits(5, of: "invites", in: &restarts, from: start)
        #expect(restarts.next("profile", now: start) == .announce(ProgramRestarts.firstWait))
    }
}
