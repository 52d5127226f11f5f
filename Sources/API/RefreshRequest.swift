#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

extension IdentityV1.RefreshRequest {
    /// For a refresh token that comes in now, by the machine's clock, however often and late the call is made.
    public init(presentedNow refreshToken: String) {
        self.init()
        self.refreshToken = refreshToken
        var time = timespec()
        // Fails only for an unknown clock or a bad pointer, and this is neither.
        clock_gettime(CLOCK_REALTIME, &time)
        presentedAtMilliseconds = Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
