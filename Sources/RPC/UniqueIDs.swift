import Synchronization

/// Numbers for the ids of traces, spans and requests: as good as random to whoever compares them, and no two of a process alike.
/// They are no secrets: whoever knows one can work out the next. Any thread.
///
/// The system is asked for randomness once, as each question is a system call. From there on it is SplitMix64 (Steele, Lea and
/// Flood, "Fast splittable pseudorandom number generators", section 5): a count that starts anywhere, each step of it mixed
/// one-to-one.
public enum UniqueIDs {
    private static let seed = UInt64.random(in: 0 ... .max)
    private static let otherSeed = UInt64.random(in: 0 ... .max)
    private static let count = Atomic<UInt64>(0)

    /// 16 lowercase hexadecimal digits, not all zero.
    public static func digits16() -> String {
        var number: UInt64 = 0
        while number == 0 { number = mixed(seed &+ step()) }
        return text((number, nil))
    }

    /// 32 lowercase hexadecimal digits, not all zero.
    public static func digits32() -> String {
        let step = step()
        let (first, second) = (mixed(seed &+ step), mixed(otherSeed &+ step))
        // Both are zero at most once.
        return first | second == 0 ? digits32() : text((first, second))
    }

    private static func step() -> UInt64 {
        count.wrappingAdd(1, ordering: .relaxed).newValue &* 0x9e37_79b9_7f4a_7c15
    }

    private static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = number
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    private static func text(_ numbers: (UInt64, UInt64?)) -> String {
        let length = numbers.1 == nil ? 16 : 32
        return String(unsafeUninitializedCapacity: length) { digits in
            for place in 0..<length {
                let number = place < 16 ? numbers.0 : numbers.1 ?? 0
                let value = UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * (place % 16))) & 15
                digits[place] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
            }
            return length
        }
    }
}
