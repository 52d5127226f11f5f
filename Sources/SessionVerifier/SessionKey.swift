/// A session's id in sixteen bytes; nil for a text that is no UUID.
struct SessionKey: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    init?(_ text: some StringProtocol) {
        var halves: (high: UInt64, low: UInt64) = (0, 0)
        var digits = 0
        for (position, byte) in text.utf8.enumerated() {
            if [8, 13, 18, 23].contains(position) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard digits < 32, let value = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
            if digits < 16 {
                halves.high = halves.high << 4 | UInt64(value)
            } else {
                halves.low = halves.low << 4 | UInt64(value)
            }
            digits += 1
        }
        guard digits == 32 else { return nil }
        (high, low) = halves
    }
}
