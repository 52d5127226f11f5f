import Glibc
import JOSE

/// An open file.
public final class FileInput: Sendable {
    /// Its path, as passed in.
    public let path: String
    /// Its size in bytes.
    public let count: Int64
    private let descriptor: Int32

    /// Opens a file. It must be a regular file, since an import may resume in its middle.
    public init(_ path: String) throws(ImportError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ImportError(path, String(cString: strerror(errno))) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw ImportError(path, "this is not a regular file, so an import couldn't resume in its middle")
        }
        self.path = path
        count = Int64(facts.st_size)
    }

    deinit { close(descriptor) }

    /// Its bytes from the beginning.
    public func bytes(pieceBytes: Int = 256 * 1024) -> ByteInput {
        ByteInput(name: path, count: count, pieceBytes: pieceBytes) { offset, buffer throws(ImportError) in
            try self.read(at: offset, buffer)
        }
    }

    private func read(at offset: Int64, _ buffer: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            guard errno == EINTR else { throw ImportError(path, String(cString: strerror(errno))) }
        }
    }

    /// A chained digest: each step hashes the digest so far with the digest of the next piece.
    func digest() throws(ImportError) -> [UInt8] {
        let pieceBytes = 1024 * 1024
        var digests: [UInt8] = []
        var chain = [UInt8](repeating: 0, count: SHA256.byteCount)
        var piece = [UInt8](repeating: 0, count: pieceBytes)
        var offset: Int64 = 0
        while true {
            let at = offset
            let count = try piece.withUnsafeMutableBufferPointer { bytes throws(ImportError) in
                try self.read(at: at, UnsafeMutableRawBufferPointer(bytes))
            }
            guard count > 0 else { break }
            digests = SHA256.hash(count == pieceBytes ? piece : Array(piece.prefix(count)))
            chain = SHA256.hash(chain + digests)
            offset += Int64(count)
        }
        return chain
    }
}
