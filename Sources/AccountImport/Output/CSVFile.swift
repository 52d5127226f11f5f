import Glibc

/// A CSV file that an import tells something in, a line each. More than one process may add to it: a line goes out whole.
public final class CSVFile {
    /// What a file of rejections begins with.
    public static let rejectsHeader = ["line", "id", "reason"]
    /// What a file of accounts that nobody can open begins with.
    public static let unreachableHeader = ["line", "id", "ways"]
    /// What a file of ids begins with.
    public static let idsHeader = ["old_id", "id"]

    private static let pendingBytesMax = 64 * 1024

    private let path: String
    private let descriptor: Int32
    private var pending: [UInt8] = []

    /// Begins a file, or goes on with one that another process began.
    ///
    /// - Parameter header: what it begins with; nil to go on.
    public init(_ path: String, header: [String]?) throws(ImportError) {
        self.path = path
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (header == nil ? 0 : O_TRUNC)
        // It names people by their ids elsewhere.
        descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { throw ImportError(path, String(cString: strerror(errno))) }
        if let header {
            add(header)
            try flush()
        }
    }

    /// Goes on with a file that was begun before, without what it tells of the row and those behind it: they are read again.
    public convenience init(_ path: String, header: [String], before row: Int64) throws(ImportError) {
        var kept: [[String]] = []
        if access(path, F_OK) == 0 {
            let file = try FileInput(path)
            var reader = CSVReader(file.bytes())
            while let record = try Self.nextWhole(&reader) {
                guard let fields = record.fields, let told = fields.first.flatMap({ Int64($0) }) else { continue }
                if told < row { kept.append(fields) }
            }
        }
        try self.init(path, header: header)
        for fields in kept { add(fields) }
        try flush()
    }

    /// The next record; the last may be cut off, by a process that was killed.
    private static func nextWhole(_ reader: inout CSVReader) throws(ImportError) -> CSVRecord? {
        do { return try reader.next() } catch { return nil }
    }

    deinit { close(descriptor) }

    /// Adds a line, which ``flush()`` writes.
    public func add(_ fields: [String]) {
        for (index, field) in fields.enumerated() {
            if index > 0 { pending.append(UInt8(ascii: ",")) }
            let isPlain = field.utf8.allSatisfy { $0 != 0x22 && $0 != 0x2c && $0 != 0x0a && $0 != 0x0d }
            if isPlain {
                pending += Array(field.utf8)
            } else {
                pending.append(0x22)
                for byte in field.utf8 {
                    if byte == 0x22 { pending.append(0x22) }
                    pending.append(byte)
                }
                pending.append(0x22)
            }
        }
        pending.append(UInt8(ascii: "\n"))
    }

    /// Adds what doesn't come in.
    public func add(line: Int64, id: String, _ reason: ImportReason) { add(["\(line)", id, "\(reason)"]) }

    /// Writes what was added.
    public func flush() throws(ImportError) {
        try writeWhole(descriptor, pending, path)
        pending.removeAll(keepingCapacity: true)
    }
}

/// Writes all bytes.
func writeWhole(_ descriptor: Int32, _ bytes: [UInt8], _ name: String) throws(ImportError) {
    var written = 0
    while written < bytes.count {
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + written, bytes.count - written) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw ImportError(name, String(cString: strerror(errno))) }
        written += count
    }
}
