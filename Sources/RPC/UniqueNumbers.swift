import Synchronization

/// Numbers for ids: no two of a process are equal, and those of two processes differ like random numbers. They are not secret: an
/// observer of one number may compute others. Unlike a random number, a number costs no system call. Any thread.
public enum UniqueNumbers {
    // SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014): a sum that meets every
    // number once, and a one-to-one scramble of it.
    private static let sum = Atomic<UInt64>(.random(in: .min ... .max))

    /// The next number.
    public static func next() -> UInt64 {
        var number = sum.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
        number = (number ^ number >> 30) &* 0xbf58_476d_1ce4_e5b9
        number = (number ^ number >> 27) &* 0x94d0_49bb_1331_11eb
        return number ^ number >> 31
    }

    /// The next number, if it is not zero; else the one after it.
    public static func nextNonzero() -> UInt64 {
        let number = next()
        return number == 0 ? next() : number
    }
}

extension String {
    /// A number as 16 hexadecimal digits in lower case.
    init(hexadecimal number: UInt64) {
        self.init(unsafeUninitializedCapacity: 16) { digits in
            number.writeHexadecimal(to: digits, at: 0)
            return 16
        }
    }

    /// Two numbers as 32 hexadecimal digits in lower case.
    public init(hexadecimal high: UInt64, _ low: UInt64) {
        self.init(unsafeUninitializedCapacity: 32) { digits in
            high.writeHexadecimal(to: digits, at: 0)
            low.writeHexadecimal(to: digits, at: 16)
            return 32
        }
    }
}

extension UInt64 {
    /// Writes sixteen hexadecimal digits in lower case.
    func writeHexadecimal(to digits: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
        let bytes = UnsafeMutableRawBufferPointer(digits)
        bytes.storeBytes(of: (self >> 32).eightHexadecimalDigits.bigEndian, toByteOffset: start, as: UInt64.self)
        bytes.storeBytes(of: self.eightHexadecimalDigits.bigEndian, toByteOffset: start + 8, as: UInt64.self)
    }

    /// The digits of the lower half, one a byte, the highest in the highest byte: all eight at once.
    private var eightHexadecimalDigits: UInt64 {
        // Halves, bytes, and then the four bits of each digit are moved apart.
        var digits = self & 0xffff_ffff
        digits = (digits << 16 | digits) & 0x0000_ffff_0000_ffff
        digits = (digits << 8 | digits) & 0x00ff_00ff_00ff_00ff
        digits = (digits << 4 | digits) & 0x0f0f_0f0f_0f0f_0f0f
        // 1 in each byte that is ten or more, which six more carry into the next four bits.
        let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        let lettersAhead = UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
        return digits + 0x3030_3030_3030_3030 + letters * lettersAhead
    }
}
