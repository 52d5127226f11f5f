/// Phone numbers one after the other: mobile ones of the Philippines, the default region, all over a network's. A sequence that begins with
/// an odd number has odd ones alone, and comes to the same after half of the network's numbers.
public struct PhoneSequence: Sendable {
    /// The network's numbers, E.164 without the plus.
    public static let numbers: ClosedRange<Int64> = 639_170_000_000...639_179_999_999
    /// From one number to the next, modulo how many there are; near the golden section, which spreads them.
    private static let stride: Int64 = 6_180_338

    private var index: Int64
    private let first: Int64
    private let laneCount: Int64

    /// A lane's part of the numbers from `first` on: of so many lanes each has every such a one.
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

    /// Any number to begin with, without the plus.
    static func randomFirst() -> Int64 { .random(in: numbers) }
}
