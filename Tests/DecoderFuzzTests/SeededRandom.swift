import Foundation

/// SplitMix64: a failure is repeated by its seed.
struct SeededRandom: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// How many random inputs each decoder gets: `VESTIBULE_FUZZ_ROUNDS`, which `make fuzz` sets, or 5,000.
    static let rounds = ProcessInfo.processInfo.environment["VESTIBULE_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 5_000

    /// The seed: `VESTIBULE_FUZZ_SEED`, or always the same.
    static let seed = ProcessInfo.processInfo.environment["VESTIBULE_FUZZ_SEED"].flatMap { UInt64($0) } ?? 20_261_124
}
