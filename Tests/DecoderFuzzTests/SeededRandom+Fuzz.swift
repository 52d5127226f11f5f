import Foundation
import TestWaits

extension SeededRandom {
    /// How many random inputs each decoder gets: `VESTIBULE_FUZZ_ROUNDS`, which `make fuzz` sets, or 5,000.
    static let rounds = ProcessInfo.processInfo.environment["VESTIBULE_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 5_000

    /// The seed: `VESTIBULE_FUZZ_SEED`, or always the same.
    static let seed = ProcessInfo.processInfo.environment["VESTIBULE_FUZZ_SEED"].flatMap { UInt64($0) } ?? 20_261_124
}
