import Glibc

/// Why a file could not be read or written, in words that follow its path.
public struct FileFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason.
    public let description: String

    /// A reason in words.
    public init(_ description: String) { self.description = description }

    /// The reason of the last failed system call.
    static func lastError(_ operation: String) -> FileFault {
        FileFault("\(operation): \(String(cString: strerror(errno)))")
    }
}

/// Reads small files without Foundation, which would cost each process megabytes.
public enum FileBytes {
    /// The bytes of a regular file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - bytesMax: a longer file is refused.
    public static func read(_ path: String, bytesMax: Int) throws(FileFault) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .lastError("cannot be opened") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .lastError("cannot be read") }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= bytesMax else { throw FileFault("is longer than \(bytesMax) bytes") }
        }
    }
}
