import IdentityDomain
import JOSE
import Models

/// The clock and the randomness of the service, passed in so that tests decide what time it is.
public struct Effects: Sendable {
    /// The time of day.
    public let clock: WallClock
    /// That many random bytes, fit for keys; called from any thread.
    public let randomBytes: @Sendable (Int) -> [UInt8]

    /// A clock and a source of random bytes.
    public init(
        clock: WallClock,
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = { SecureRandom.bytes($0) }
    ) {
        self.clock = clock
        self.randomBytes = randomBytes
    }

    /// The machine's clock and libcrypto's random bytes.
    public static let system = Effects(clock: .system)

    /// The time in Unix seconds, rounded down.
    var nowSeconds: Int64 { clock.nowMilliseconds / 1000 }

    /// Ids and the nonce of a session that may be opened now.
    func makeNewSession() -> NewSession {
        let bytes = randomBytes
        let source = IdentifierSource(clock: clock, randomBits: { bytes(8).reduce(0) { $0 << 8 | UInt64($1) } })
        return NewSession(
            userID: source.make(),
            sessionID: source.make(),
            nonce: bytes(RefreshToken.nonceByteCount)
        )
    }
}
