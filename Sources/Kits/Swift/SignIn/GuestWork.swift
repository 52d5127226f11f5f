/// The proof of work that a new guest costs.
enum GuestWork {
    /// The most that is taken from a server. It would keep a phone busy for minutes.
    static let bitsMax: Int32 = 30
    /// Hashes between two looks at whether the task is cancelled.
    private static let batch = 4096

    /// A text that begins with a challenge and a full stop, goes on with digits, and whose SHA-256 begins with so many zero bits.
    ///
    /// - Throws: `CancellationError`.
    static func proof(_ challenge: String, bits: Int32) async throws -> String {
        var text = Array("\(challenge).0".utf8)
        let first = text.count - 1
        while true {
            for _ in 0..<batch {
                if zeroBits(SHA256Digest.of(text)) >= bits { return String(decoding: text, as: UTF8.self) }
                increment(&text, from: first)
            }
            // Others need this thread, too.
            await Task.yield()
            try Task.checkCancellation()
        }
    }

    /// Adds one to the digits at the end.
    private static func increment(_ text: inout [UInt8], from first: Int) {
        for index in stride(from: text.count - 1, through: first, by: -1) {
            guard text[index] == UInt8(ascii: "9") else {
                text[index] += 1
                return
            }
            text[index] = UInt8(ascii: "0")
        }
        text.insert(UInt8(ascii: "1"), at: first)
    }

    /// How many zero bits a hash begins with.
    static func zeroBits(_ hash: [UInt8]) -> Int {
        guard let first = hash.firstIndex(where: { $0 != 0 }) else { return hash.count * 8 }
        return first * 8 + hash[first].leadingZeroBitCount
    }
}
