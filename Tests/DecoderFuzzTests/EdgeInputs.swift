import TestWaits

/// Inputs made from a valid one, with edge values of its format.
///
/// The positions of fields need not be known: each eight, four, two and one bytes at each offset get the edge values of
/// their type.
struct EdgeInputs {
    let good: [UInt8]

    /// The edge values of an eight-byte integer, signed or not, and their neighbors.
    private static let edges: [UInt64] = [
        0, 1, 2, .max, .max - 1, UInt64(bitPattern: .min), UInt64(bitPattern: .min) + 1, UInt64(bitPattern: .max),
        UInt64(bitPattern: .max) - 1, UInt64(UInt32.max), UInt64(UInt32.max) + 1, UInt64(Int32.max), 1 << 62,
    ]

    /// Each edge value in each field, alone.
    var eachField: [[UInt8]] {
        good.indices.flatMap { offset in
            Self.edges.flatMap { edge in [8, 4, 2, 1].map { set(edge, $0, at: [offset]) } }
        }
    }

    /// Each edge value in all fields of one width; the bytes before the first one stay.
    var allFields: [[UInt8]] {
        [8, 4, 2, 1].flatMap { width in
            (0..<width).flatMap { first in
                Self.edges.map { set($0, width, at: Array(stride(from: first, to: good.count, by: width))) }
            }
        }
    }

    /// Two fields of eight bytes with two edge values.
    var pairs: [[UInt8]] {
        var inputs: [[UInt8]] = []
        for first in good.indices {
            for second in good.indices where second >= first + 8 {
                for (one, other) in [
                    (UInt64(0), UInt64.max), (UInt64.max, 0), (1 << 63, .max >> 1), (.max >> 1, 1 << 63),
                ] {
                    var input = set(one, 8, at: [first])
                    input = EdgeInputs(good: input).set(other, 8, at: [second])
                    inputs.append(input)
                }
            }
        }
        return inputs
    }

    /// Cut at each offset, and extended.
    var cut: [[UInt8]] { (0..<good.count).map { Array(good.prefix($0)) } + [good + [0], good + good, good + [255]] }

    /// One bit flipped, each in turn.
    var flipped: [[UInt8]] {
        good.indices.flatMap { offset in
            (0..<8).map { bit in
                var input = good
                input[offset] ^= 1 << bit
                return input
            }
        }
    }

    /// All of these inputs.
    var all: [[UInt8]] { eachField + allFields + pairs + cut + flipped }

    /// Several random changes.
    func changed(_ random: inout SeededRandom) -> [UInt8] {
        var input = good
        for _ in 0...Int.random(in: 0..<5, using: &random) {
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where !input.isEmpty:
                input[Int.random(in: input.indices, using: &random)] = .random(in: .min ... .max, using: &random)
            case 1: input.removeLast(min(input.count, Int.random(in: 0..<9, using: &random)))
            case 2: input += (0..<4).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            case 3 where !input.isEmpty: input.remove(at: Int.random(in: input.indices, using: &random))
            default:
                guard let offset = input.indices.randomElement(using: &random),
                    let edge = Self.edges.randomElement(using: &random)
                else { continue }
                input = EdgeInputs(good: input).set(
                    edge,
                    [8, 4, 2, 1].randomElement(using: &random) ?? 8,
                    at: [offset]
                )
            }
        }
        return input
    }

    /// The valid input with an integer at these offsets, as far as it fits.
    private func set(_ value: UInt64, _ width: Int, at offsets: [Int]) -> [UInt8] {
        var input = good
        for offset in offsets {
            for index in 0..<width where offset + index < input.count {
                input[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64((width - 1 - index) * 8))
            }
        }
        return input
    }
}
