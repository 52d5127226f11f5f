import JOSE
import TestWaits

extension SeededRandom {
    /// The bytes with one change: a bit, a byte, a range that is cut, doubled, overwritten or moved in from elsewhere, or an end cut off.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        let range = self.range(of: bytes)
        let other = Array(bytes[self.range(of: bytes)])
        switch Int.random(in: 0..<8, using: &self) {
        case 0, 1:
            result[Int.random(in: bytes.indices, using: &self)] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 2:
            result[Int.random(in: bytes.indices, using: &self)] = UInt8.random(in: 0...255, using: &self)
        case 3: result.removeSubrange(range)
        case 4: result.insert(contentsOf: bytes[range], at: range.upperBound)
        case 5: result.replaceSubrange(range, with: other)
        case 6: result.insert(contentsOf: other, at: range.lowerBound)
        default: result.removeSubrange(range.lowerBound...)
        }
        return result
    }

    /// The text of an object with one change: of its bytes, or of a member, which is doubled, removed, renamed or of another type.
    mutating func changed(_ text: [UInt8]) -> [UInt8] {
        guard Bool.random(using: &self), let object = try? JSONObject(parsing: text) else { return mutated(text) }
        let values: [JSONValue] = [
            .null, true, 0, .integer(.max), .number(literal: "-1e9"), "", "a", [], [:], ["typ": []],
        ]
        let member = object.members[Int.random(in: object.members.indices, using: &self)]
        let value = values[Int.random(in: values.indices, using: &self)]
        var changed = object
        switch Int.random(in: 0..<5, using: &self) {
        case 0:
            let more = JSONValue.object([member.name: Bool.random(using: &self) ? member.value : value]).serialized()
            return text.dropLast() + [UInt8(ascii: ",")] + more.dropFirst()
        case 1: changed[member.name] = nil
        case 2:
            changed[member.name] = nil
            changed[member.name + "s"] = member.value
        case 3: changed[["d", "crit", "nonce", "exp", "other"].randomElement(using: &self) ?? "other"] = value
        default: changed[member.name] = value
        }
        return changed.serialized()
    }

    /// A range of bytes, mostly a short one.
    private mutating func range(of bytes: [UInt8]) -> Range<Int> {
        let start = Int.random(in: bytes.indices, using: &self)
        let countMax = Bool.random(using: &self) ? 4 : bytes.count
        return start..<Int.random(in: start...min(start + countMax, bytes.count), using: &self)
    }
}
