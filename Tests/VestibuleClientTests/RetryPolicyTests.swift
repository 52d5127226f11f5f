import Testing

@testable import VestibuleClient

struct RetryPolicyTests {
    @Test func `Pauses double up to the longest, with full jitter`() {
        let policy = RetryPolicy()
        let longest = (1...8).map { policy.pause(failures: $0, retryAfter: nil, random: 1).milliseconds }
        #expect(longest == [200, 400, 800, 1600, 3200, 5000, 5000, 5000])
        #expect(policy.pause(failures: 3, retryAfter: nil, random: 0) == .zero)
        #expect(policy.pause(failures: 3, retryAfter: nil, random: 0.5).milliseconds == 400)
        #expect(policy.pause(failures: 1_000_000, retryAfter: nil, random: 1) == .seconds(5))
    }

    @Test func `A pause is as long as the server asks for at least`() {
        let policy = RetryPolicy()
        #expect(policy.pause(failures: 1, retryAfter: .seconds(7), random: 1) == .seconds(7))
        #expect(policy.pause(failures: 1, retryAfter: .milliseconds(1), random: 1) == .milliseconds(200))
        #expect(policy.pause(failures: 1, retryAfter: .seconds(86_400), random: 1) == .seconds(60))
    }

    private static let lost = CallFailure.lost(HTTPFailure(wasNotSent: false, isTimeout: false, message: ""))
    private static let unsent = CallFailure.lost(HTTPFailure(wasNotSent: true, isTimeout: false, message: ""))

    private static func refused(_ status: Int, isOwn: Bool) -> CallFailure {
        .refused(VestibuleError("RATE_LIMITED", "", status: status), isOwn: isOwn)
    }

    @Test func `What may have had an effect is repeated only if a repetition has none`() {
        #expect(RetryPolicy.mayRetry(Self.lost, isIdempotent: true))
        #expect(!RetryPolicy.mayRetry(Self.lost, isIdempotent: false))
        #expect(RetryPolicy.mayRetry(Self.unsent, isIdempotent: false))
        for status in [429, 503] {
            #expect(RetryPolicy.mayRetry(Self.refused(status, isOwn: true), isIdempotent: false))
            #expect(!RetryPolicy.mayRetry(Self.refused(status, isOwn: false), isIdempotent: false))
            #expect(RetryPolicy.mayRetry(Self.refused(status, isOwn: false), isIdempotent: true))
        }
        for status in [502, 504] {
            #expect(RetryPolicy.mayRetry(Self.refused(status, isOwn: false), isIdempotent: true))
            #expect(!RetryPolicy.mayRetry(Self.refused(status, isOwn: false), isIdempotent: false))
        }
        let tooLong = HTTPFailure(wasNotSent: false, isTimeout: false, isTooLong: true, message: "")
        #expect(!RetryPolicy.mayRetry(.lost(tooLong), isIdempotent: true))
        for status in [302, 400, 401, 403, 404, 409, 500] {
            #expect(!RetryPolicy.mayRetry(Self.refused(status, isOwn: true), isIdempotent: true))
        }
    }
}
