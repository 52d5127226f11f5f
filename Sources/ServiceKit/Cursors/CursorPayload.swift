import Bytes

/// Why a cursor is refused. All reasons look the same to the client.
public struct CursorError: Error, Sendable, Hashable {
    /// The one value.
    public init() {}
}

/// What stands in a cursor: a value that a client gets, doesn't look into, and gives back.
///
/// Its bytes are read only after their MAC was checked, and by a ``Bytes/ByteReader`` all the same: a fault in what makes cursors
/// must not end the process that takes them.
public protocol CursorPayload: Sendable {
    /// The most bytes that it has.
    static var bytesMax: Int { get }

    /// Reads one. The caller checks that nothing is left.
    init(from reader: inout ByteReader<CursorError>) throws(CursorError)

    /// Appends the bytes that ``init(from:)`` reads.
    func write(to bytes: inout [UInt8])
}

extension CursorPayload {
    /// Reads all of `bytes`, which are known to be ours, or known to be a test's.
    public init(parsing bytes: ArraySlice<UInt8>) throws(CursorError) {
        guard bytes.count <= Self.bytesMax else { throw CursorError() }
        var reader = ByteReader(bytes, truncated: CursorError())
        try self.init(from: &reader)
        guard reader.isAtEnd else { throw CursorError() }
    }

    /// The bytes.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }
}
