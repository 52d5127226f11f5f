import Glibc
import IdentityDomain
import JOSE
import Models

/// The clock and the randomness of the service, passed in so that tests decide what time it is.
public struct Effects: Sendable {
    /// The time in Unix milliseconds.
    public let nowMilliseconds: @Sendable () -> Int64
    /// That many random bytes, fit for keys.
    public let randomBytes: @Sendable (Int) -> [UInt8]

    /// A clock and a source of random bytes; both are called from any thread.
    public init(
        nowMilliseconds: @escaping @Sendable () -> Int64,
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = { SecureRandom.bytes($0) }
    ) {
        self.nowMilliseconds = nowMilliseconds
        self.randomBytes = randomBytes
    }

    /// The system's clock and libcrypto's random bytes.
    public static let system = Effects(nowMilliseconds: {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    })

    /// The time in Unix seconds, rounded down.
    var nowSeconds: Int64 { nowMilliseconds() / 1000 }

    /// Ids and the nonce of a session that may be opened now.
    func makeNewSession() -> NewSession {
        let bytes = randomBytes
        let source = IdentifierSource(
            nowMilliseconds: nowMilliseconds,
            randomBits: { bytes(8).reduce(0) { $0 << 8 | UInt64($1) } }
        )
        return NewSession(
            userID: source.make(),
            sessionID: source.make(),
            nonce: bytes(RefreshToken.nonceByteCount)
        )
    }
}
