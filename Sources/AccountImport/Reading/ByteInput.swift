/// The bytes of a file in order, read piece by piece: memory is bounded whatever the file's size.
public struct ByteInput {
    /// Reads at an offset into the buffer. Returns the number of bytes read; 0 at the end.
    public typealias Read = (_ offset: Int64, _ buffer: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int

    /// The file's name, for errors.
    public let name: String
    /// The size of the file in bytes.
    public let count: Int64
    /// The offset of the next byte.
    public private(set) var offset: Int64 = 0
    /// The line that the next byte is on, from 1.
    public private(set) var line: Int64 = 1

    private let read: Read
    private var buffer: [UInt8]
    private var position = 0
    private var end = 0

    /// A file.
    ///
    /// - Parameter pieceBytes: how many bytes are read at once.
    public init(name: String, count: Int64, pieceBytes: Int = 256 * 1024, read: @escaping Read) {
        self.name = name
        self.count = count
        self.read = read
        buffer = [UInt8](repeating: 0, count: pieceBytes)
    }

    /// A file in memory.
    public init(name: String, bytes: [UInt8], pieceBytes: Int = 4096) {
        self.init(name: name, count: Int64(bytes.count), pieceBytes: pieceBytes) { offset, buffer in
            let piece = bytes.dropFirst(Int(clamping: offset)).prefix(buffer.count)
            buffer.copyBytes(from: piece)
            return piece.count
        }
    }

    /// Continues at an offset, which is on this line.
    public mutating func seek(to offset: Int64, line: Int64) {
        let inBuffer = offset - (self.offset - Int64(position))
        self.offset = offset
        self.line = line
        if 0...Int64(end) ~= inBuffer {
            position = Int(inBuffer)
        } else {
            (position, end) = (0, 0)
        }
    }

    /// The next byte, without consuming it; nil at the end.
    @inline(__always)
    mutating func peek() throws(ImportError) -> UInt8? {
        if position == end, try !fill() { return nil }
        return buffer[position]
    }

    /// The next byte; nil at the end.
    @inline(__always)
    mutating func next() throws(ImportError) -> UInt8? {
        guard let byte = try peek() else { return nil }
        position += 1
        offset += 1
        if byte == UInt8(ascii: "\n") { line += 1 }
        return byte
    }

    /// Skips the byte order mark with which some programs begin a UTF-8 file.
    mutating func skipByteOrderMark() throws(ImportError) {
        guard offset == 0 else { return }
        for expected: UInt8 in [0xef, 0xbb, 0xbf] {
            guard try next() == expected else { return seek(to: 0, line: 1) }
        }
    }

    private mutating func fill() throws(ImportError) -> Bool {
        let (at, read) = (offset, read)
        let count = try buffer.withUnsafeMutableBufferPointer { bytes throws(ImportError) in
            try read(at, UnsafeMutableRawBufferPointer(bytes))
        }
        (position, end) = (0, count)
        return count > 0
    }

    /// An error on the given line, by default that of the next byte.
    func fault(_ problem: String, line: Int64? = nil) -> ImportError {
        ImportError(name, line: line ?? self.line, problem)
    }
}
