/// Where new ids come from: a clock and random bits, both handed in, so that a test can make them come out the same.
public struct IdentifierSource: Sendable {
    private let nowMilliseconds: @Sendable () -> Int64
    private let randomBits: @Sendable () -> UInt64

    /// Ids of this clock, in Unix milliseconds, and these random bits. Both are called from any thread.
    public init(
        nowMilliseconds: @escaping @Sendable () -> Int64,
        randomBits: @escaping @Sendable () -> UInt64 = {
            var generator = SystemRandomNumberGenerator()
            return generator.next()
        }
    ) {
        self.nowMilliseconds = nowMilliseconds
        self.randomBits = randomBits
    }

    /// A new id. Ids are version 7, so those made in different milliseconds sort by their making.
    public func make<Tag>(_ type: Identifier<Tag>.Type = Identifier<Tag>.self) -> Identifier<Tag> {
        Identifier.make(milliseconds: nowMilliseconds(), randomBits: (randomBits(), randomBits()))
    }
}
