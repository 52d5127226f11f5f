/// A sequence of phone numbers: mobile numbers of the Philippines, the default region, spread over the range of one network. A
/// sequence that begins with an odd number has only odd numbers, and repeats after half of the range.
public struct PhoneSequence: Sendable {
    /// The network's numbers, E.164 without the plus.
    public static let numbers: ClosedRange<Int64> = 639_170_000_000...639_179_999_999
    /// The step from one number to the next, modulo the size of the range; near the golden ratio, which spreads them.
    private static let stride: Int64 = 6_180_338

    private var index: Int64
    private let first: Int64
    private let laneCount: Int64

    /// A lane's part of the numbers from `first` on: with n lanes, every nth number.
    init(first: Int64, lane: Int = 0, of laneCount: Int = 1) {
        self.first = first
        self.laneCount = Int64(laneCount)
        index = Int64(lane)
    }

    /// The next number, with the plus.
    mutating func next() -> String {
        defer { index += laneCount }
        let count = Int64(Self.numbers.count)
        let place = (first - Self.numbers.lowerBound + index % count * Self.stride) % count
        return "+\(Self.numbers.lowerBound + place)"
    }

    /// A random first number, without the plus.
    static func randomFirst() -> Int64 { .random(in: numbers) }
}
