/// Takes enveloped messages out of a stream of bytes: a byte of flags, four of length (big-endian), the message. gRPC's, and
/// those of the protocols made after it, are the same.
///
/// What is whole in the bytes that came is handed on where it lies; only of a message that is not whole is there a copy, which
/// grows with what came and not with what its length claims.
struct EnvelopeReader {
    private static let prefixByteCount = 5

    /// What is there of an envelope that is not whole.
    private var partial: [UInt8] = []
    private let messageBytesMax: Int

    init(messageBytesMax: Int) { self.messageBytesMax = messageBytesMax }

    /// Whether an envelope has begun and is not whole.
    var isInside: Bool { !partial.isEmpty }

    /// A message in its envelope.
    struct Envelope {
        let flags: UInt8
        let message: UnsafeRawBufferPointer
        /// How many of the envelope's bytes were among those read last.
        let newByteCount: Int
    }

    enum Outcome { case readAll, tooLarge, stopped }

    /// Reads bytes, and hands on each message that is whole with them, until `take` says that it wants no more.
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

    /// Bytes until the prefix is there, or then the message.
    private var missingByteCount: Int {
        guard let length = partial.withUnsafeBytes({ Self.length($0[...]) }) else {
            return Self.prefixByteCount - partial.count
        }
        return Self.prefixByteCount + length - partial.count
    }

    /// The length that a prefix says; nil while it is not there.
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
