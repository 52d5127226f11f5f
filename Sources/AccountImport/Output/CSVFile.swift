import Glibc

/// A CSV file that an import writes, a line for each entry. Several processes may append to it: whole lines are written.
public final class CSVFile {
    /// The header of a file of rejections.
    public static let rejectsHeader = ["line", "id", "reason"]
    /// The header of a file of accounts that no user can sign in to.
    public static let unreachableHeader = ["line", "id", "ways"]
    /// The header of a file of ids.
    public static let idsHeader = ["old_id", "id"]

    private static let pendingBytesMax = 64 * 1024

    private let path: String
    private let descriptor: Int32
    private var pending: [UInt8] = []

    /// Begins a file, or appends to one that another process began.
    ///
    /// - Parameter header: its header; nil to append.
    public init(_ path: String, header: [String]?) throws(ImportError) {
        self.path = path
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (header == nil ? 0 : O_TRUNC)
        // Readable by its owner only: it contains users' ids elsewhere.
        descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { throw ImportError(path, String(cString: strerror(errno))) }
        if let header {
            add(header)
            try flush()
        }
    }

    /// Continues an earlier file, without its entries for the row and later rows: these rows are read again.
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

    /// The next record. The last may be incomplete after a process was killed.
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

    /// Adds a rejection.
    public func add(line: Int64, id: String, _ reason: ImportReason) { add(["\(line)", id, "\(reason)"]) }

    /// Writes the added lines.
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
