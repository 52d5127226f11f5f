import Foundation

/// Reads lines from a descriptor until its end. A line over 64 KiB is returned in parts.
enum LineReader {
    private static let lineBytesMax = 65_536

    static func readLines(from descriptor: Int32, _ take: (String) -> Void) {
        var pending: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            pending += chunk[..<count]
            while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                take(String(decoding: pending[..<end], as: UTF8.self))
                pending.removeSubrange(...end)
            }
            if pending.count > lineBytesMax {
                take(String(decoding: pending, as: UTF8.self))
                pending = []
            }
        }
        if !pending.isEmpty { take(String(decoding: pending, as: UTF8.self)) }
    }
}
