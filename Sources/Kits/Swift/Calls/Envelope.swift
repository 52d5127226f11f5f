import Foundation

/// A message of a stream in Connect's envelopes: a byte of flags, four of length, the message.
package struct Envelope: Equatable {
    /// The flag of the last envelope, which has the error, if there is one.
    private static let endFlag: UInt8 = 2
    fileprivate static let headBytes = 5

    package let flags: UInt8
    package let message: [UInt8]

    package var isEnd: Bool { flags & Self.endFlag != 0 }

    package static func data(_ message: Data) -> Data {
        var data = Data([0])
        withUnsafeBytes(of: UInt32(message.count).bigEndian) { data.append(contentsOf: $0) }
        return data + message
    }
}

/// Takes envelopes out of the pieces of a stream.
package struct EnvelopeReader {
    /// The longest message that is taken.
    private static let messageBytesMax = 4 * 1024 * 1024

    private var bytes: [UInt8] = []

    package init() {}

    package mutating func add(_ piece: some Sequence<UInt8>) { bytes += piece }

    /// The next envelope; nil if it isn't there as a whole.
    ///
    /// - Throws: if it is longer than any of the server's.
    package mutating func next() throws(JSONFault) -> Envelope? {
        guard bytes.count >= Envelope.headBytes else { return nil }
        let length = bytes[1..<Envelope.headBytes].reduce(0) { $0 << 8 | Int($1) }
        guard length <= Self.messageBytesMax else { throw JSONFault(place: "the length of an envelope") }
        guard bytes.count >= Envelope.headBytes + length else { return nil }
        let end = Envelope.headBytes + length
        let envelope = Envelope(flags: bytes[0], message: Array(bytes[Envelope.headBytes..<end]))
        bytes.removeFirst(end)
        return envelope
    }
}
