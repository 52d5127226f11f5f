extension SeededRandom {
    /// The bytes with one change: a bit, a byte, a range that is cut, doubled, overwritten or moved in from elsewhere.
    public mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        let range = self.range(of: bytes)
        let other = Array(bytes[self.range(of: bytes)])
        switch Int.random(in: 0..<7, using: &self) {
        case 0, 1:
            result[Int.random(in: bytes.indices, using: &self)] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 2:
            result[Int.random(in: bytes.indices, using: &self)] = UInt8.random(in: 0...255, using: &self)
        case 3: result.removeSubrange(range)
        case 4: result.insert(contentsOf: bytes[range], at: range.upperBound)
        case 5: result.replaceSubrange(range, with: other)
        default: result.insert(contentsOf: other, at: range.lowerBound)
        }
        return result
    }

    /// A range of bytes, mostly a short one.
    private mutating func range(of bytes: [UInt8]) -> Range<Int> {
        let start = Int.random(in: bytes.indices, using: &self)
        let countMax = Bool.random(using: &self) ? 4 : bytes.count
        return start..<Int.random(in: start...min(start + countMax, bytes.count), using: &self)
    }
}
