import Glibc

/// The file that keeps the simulator's state from one run to the next. Only its owner can read it, since it contains keys.
struct StateFile: Sendable {
    /// A file that could not be read or written.
    struct AccessError: Error, CustomStringConvertible {
        /// The failed operation, the path and the system's error.
        let description: String

        init(_ operation: String, _ path: String, errno code: Int32) {
            description = "cannot \(operation) \(path): \(String(cString: strerror(code)))"
        }
    }

    /// The largest file that is read, in bytes.
    static let bytesMax = 64 << 20

    /// The path of the file.
    let path: String

    /// The file's bytes; nil if there is no file.
    func read() throws(AccessError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw AccessError("read", path, errno: errno)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = systemRead(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw AccessError("read", path, errno: errno)
            }
            bytes += chunk[..<count]
            guard bytes.count <= Self.bytesMax else { throw AccessError("read", path, errno: EFBIG) }
        }
    }

    /// Replaces the whole file: a crash leaves the old or the new file, never a part.
    func write(_ bytes: [UInt8]) throws(AccessError) {
        let temporary = path + ".new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR)
        guard descriptor >= 0 else { throw AccessError("write", temporary, errno: errno) }
        var offset = 0
        var code: Int32 = 0
        bytes.withUnsafeBytes { buffer in
            while offset < buffer.count, code == 0 {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: buffer[offset...]))
                if count >= 0 { offset += count } else if errno != EINTR { code = errno }
            }
        }
        if code == 0, fsync(descriptor) != 0 { code = errno }
        close(descriptor)
        if code == 0, rename(temporary, path) != 0 { code = errno }
        guard code == 0 else {
            unlink(temporary)
            throw AccessError("write", path, errno: code)
        }
    }
}

// The methods above hide the system calls of the same names.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
    write(descriptor, buffer.baseAddress, buffer.count)
}
