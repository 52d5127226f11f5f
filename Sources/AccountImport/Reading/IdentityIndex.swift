import Glibc
import Models

/// The positions of each account's identities in a file, since two exports need not be in the same order. The index is a file without a
/// name, which the system may page out: 24 bytes for each row.
final class IdentityIndex {
    /// The maximum of identities of one account.
    static let perAccountMax = 16

    private struct Entry {
        let userID: UserID
        let offset: Int64
    }

    private var entries: UnsafeMutableBufferPointer<Entry>
    private let mappedBytes: Int
    private var reader: RecordReader

    /// Reads the whole file once.
    ///
    /// - Parameter folder: a folder with room for the index.
    /// - Throws: `ImportError` also for a row that can't be read, since then the identity's account is unknown.
    init(_ file: FileInput, scratch folder: String) throws(ImportError) {
        let required = SupabaseRow.requiredIdentityColumns
        reader = try RecordReader(file.bytes(pieceBytes: 16 * 1024), required: required, member: nil, takesJSON: true)
        var all = try RecordReader(file.bytes(), required: required, member: nil, takesJSON: true)
        let scratch = try ScratchFile(in: folder)
        var pending: [Entry] = []
        var count = 0
        while let row = try all.next() {
            guard let record = row.record, let userID = record.text("user_id").flatMap({ UserID($0) }) else {
                throw ImportError(
                    file.path,
                    line: row.number,
                    "a row that can't be read, or without a user_id that is a UUID"
                )
            }
            pending.append(Entry(userID: userID, offset: all.start))
            count += 1
            if pending.count == 65_536 {
                try pending.withUnsafeBufferPointer { bytes throws(ImportError) in
                    try scratch.append(UnsafeRawBufferPointer(bytes))
                }
                pending.removeAll(keepingCapacity: true)
            }
        }
        try pending.withUnsafeBufferPointer { bytes throws(ImportError) in
            try scratch.append(UnsafeRawBufferPointer(bytes))
        }
        mappedBytes = count * MemoryLayout<Entry>.stride
        let start = try scratch.map(byteCount: mappedBytes)
        entries = UnsafeMutableBufferPointer(start: start?.bindMemory(to: Entry.self, capacity: count), count: count)
        entries.sort { ($0.userID, $0.offset) < ($1.userID, $1.offset) }
    }

    deinit {
        if let start = entries.baseAddress { munmap(start, mappedBytes) }
    }

    /// The identities of an account in the order of the file, at most one more than ``perAccountMax``.
    func records(of userID: UserID) throws(ImportError) -> [ImportRecord] {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].userID < userID { low = middle + 1 } else { high = middle }
        }
        var records: [ImportRecord] = []
        while low < entries.count, entries[low].userID == userID, records.count <= Self.perAccountMax {
            reader.seek(toRowAt: entries[low].offset)
            if let record = try reader.next()?.record { records.append(record) }
            low += 1
        }
        return records
    }
}

/// A file that is deleted when its owner goes.
private struct ScratchFile: ~Copyable {
    private let descriptor: Int32

    init(in folder: String) throws(ImportError) {
        var template = Array("\(folder)/vestibule-import-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw ImportError(folder, String(cString: strerror(errno))) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(template)
    }

    deinit { close(descriptor) }

    func append(_ bytes: UnsafeRawBufferPointer) throws(ImportError) {
        var rest = bytes
        while let start = rest.baseAddress, !rest.isEmpty {
            let count = write(descriptor, start, rest.count)
            guard count > 0 || errno == EINTR else {
                throw ImportError("the index of identities", String(cString: strerror(errno)))
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(max(count, 0)))
        }
    }

    /// Its bytes mapped into memory; nil if it is empty.
    func map(byteCount: Int) throws(ImportError) -> UnsafeMutableRawPointer? {
        guard byteCount > 0 else { return nil }
        let start = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let start, start != MAP_FAILED else {
            throw ImportError("the index of identities", String(cString: strerror(errno)))
        }
        return start
    }
}
