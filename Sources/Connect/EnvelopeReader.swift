/// Reads enveloped messages from a stream of bytes: a byte of flags, four bytes of length (big-endian), the message. gRPC,
/// Connect and gRPC-Web use the same format.
///
/// A complete message is passed on in place. Only an incomplete one is copied, and the copy grows with the received bytes,
/// not with the claimed length.
struct EnvelopeReader {
    private static let prefixByteCount = 5

    /// The received part of an incomplete envelope.
    private var partial: [UInt8] = []
    private let messageBytesMax: Int

    init(messageBytesMax: Int) { self.messageBytesMax = messageBytesMax }

    /// Whether an envelope is incomplete.
    var isInside: Bool { !partial.isEmpty }

    /// A message in its envelope.
    struct Envelope {
        let flags: UInt8
        let message: UnsafeRawBufferPointer
        /// The number of the envelope's bytes that were in the last read.
        let newByteCount: Int
    }

    enum Outcome { case readAll, tooLarge, stopped }

    /// Reads bytes, and passes on each completed message, until `take` returns false.
    mutating func read(_ bytes: UnsafeRawBufferPointer, _ take: (Envelope) -> Bool) -> Outcome {
        var rest = bytes[...]
        var oldByteCount = partial.count
        while !rest.isEmpty {
            if partial.isEmpty, let length = Self.length(rest), length <= messageBytesMax,
                rest.count - Self.prefixByteCount >= length
            {
                let envelope = rest.prefix(Self.prefixByteCount + length)
                rest = rest.dropFirst(envelope.count)
                guard Self.hand(UnsafeRawBufferPointer(rebasing: envelope), new: envelope.count, take) else {
                    return .stopped
                }
                continue
            }
            let missing = missingByteCount
            let added = rest.prefix(missing)
            partial.append(contentsOf: added)
            rest = rest.dropFirst(added.count)
            guard let length = partial.withUnsafeBytes({ Self.length($0[...]) }) else { continue }
            guard length <= messageBytesMax else { return .tooLarge }
            if partial.count == Self.prefixByteCount + length {
                let whole = partial
                partial = []
                let newByteCount = whole.count - oldByteCount
                oldByteCount = 0
                guard whole.withUnsafeBytes({ Self.hand($0, new: newByteCount, take) }) else { return .stopped }
            }
        }
        return .readAll
    }

    /// The number of missing bytes of the prefix, or of the message.
    private var missingByteCount: Int {
        guard let length = partial.withUnsafeBytes({ Self.length($0[...]) }) else {
            return Self.prefixByteCount - partial.count
        }
        return Self.prefixByteCount + length - partial.count
    }

    /// The length in the prefix; nil while the prefix is incomplete.
    private static func length(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard bytes.count >= prefixByteCount else { return nil }
        return bytes.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }

    private static func hand(_ envelope: UnsafeRawBufferPointer, new: Int, _ take: (Envelope) -> Bool) -> Bool {
        take(
            Envelope(
                flags: envelope[0],
                message: UnsafeRawBufferPointer(rebasing: envelope.dropFirst(prefixByteCount)),
                newByteCount: new
            )
        )
    }
}
