/// Where new ids come from: a clock and random bits, both handed in, so that a test can make them come out the same.
public struct IdentifierSource: Sendable {
    private let clock: WallClock
    private let randomBits: @Sendable () -> UInt64

    /// Ids of this clock and these random bits, which are drawn from any thread.
    public init(
        clock: WallClock = .system,
        randomBits: @escaping @Sendable () -> UInt64 = {
            var generator = SystemRandomNumberGenerator()
            return generator.next()
        }
    ) {
        self.clock = clock
        self.randomBits = randomBits
    }

    /// A new id. Ids are version 7, so those made in different milliseconds sort by their making.
    public func make<Tag>(_ type: Identifier<Tag>.Type = Identifier<Tag>.self) -> Identifier<Tag> {
        Identifier.make(milliseconds: clock.nowMilliseconds, randomBits: (randomBits(), randomBits()))
    }
}
