import Glibc
import RPC

/// Where a program's crash reports are written, and the ledger of those that were counted. Replicas may share it.
struct CrashFolder: Sendable {
    let path: String
    let program: String

    /// Reports that are kept after they were counted.
    static let reportsKept = 20
    /// Reports that are counted at one start.
    static let reportsReadMax = 256

    private var ledgerPath: String { "\(path)/\(program).ledger" }
    private static let newSuffix = ".crash"
    private static let countedSuffix = ".counted"

    /// The file for the report of this process, which does not exist.
    func newReportPath() -> String {
        let name = String(hexadecimal: UniqueNumbers.next(), UniqueNumbers.next())
        return "\(path)/\(program)-\(name)\(Self.newSuffix)"
    }

    /// Counts the reports that were written since the last start of this program.
    ///
    /// - Returns: the ledger with them, and them.
    /// - Throws: `FileError` if the folder cannot be used.
    func collect() throws(FileError) -> (ledger: CrashLedger, reports: [CrashReport]) {
        let lock = try lock()
        defer { close(lock) }  // which unlocks it
        var ledger = CrashLedger()
        if access(ledgerPath, F_OK) == 0 {
            ledger = CrashLedger(try FileBytes.read(ledgerPath, bytesMax: CrashLedger.bytesMax))
        }
        let files = try files()
        var found: [(file: String, report: CrashReport)] = []
        for file in files.filter({ $0.hasSuffix(Self.newSuffix) }).prefix(Self.reportsReadMax) {
            let bytes = try FileBytes.read("\(path)/\(file)", bytesMax: CrashReport.bytesMax)
            // One that was cut still says that the program crashed.
            let report = CrashReport(bytes) ?? CrashReport(unreadableAt: Int64(time(nil)))
            found.append((file, report))
        }
        guard !found.isEmpty else { return (ledger, []) }
        found.sort { $0.report.seconds < $1.report.seconds }
        for (_, report) in found { ledger.count(report) }
        try write(ledger)
        // After the ledger: a process that dies in between counts them twice rather than never.
        for (file, _) in found {
            let counted = file.dropLast(Self.newSuffix.count) + Self.countedSuffix
            guard rename("\(path)/\(file)", "\(path)/\(counted)") == 0 else { throw .lastError("\(path)/\(file)") }
        }
        forgetOldReports()
        return (ledger, found.map(\.report))
    }

    private func lock() throws(FileError) -> Int32 {
        let descriptor = open("\(path)/\(program).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .lastError("\(path) cannot be written") }
        guard flock(descriptor, LOCK_EX) == 0 else {
            defer { close(descriptor) }
            throw .lastError("\(path) cannot be locked")
        }
        return descriptor
    }

    /// The program's files, by name.
    private func files() throws(FileError) -> [String] {
        do {
            return try FileBytes.names(inFolder: path).filter { $0.hasPrefix("\(program)-") }
        } catch {
            throw FileError("\(path) \(error.description)")
        }
    }

    private func write(_ ledger: CrashLedger) throws(FileError) {
        let unfinished = ledgerPath + ".new"
        unlink(unfinished)
        do {
            _ = try FileBytes.create(unfinished, mode: 0o600) { ledger.bytes }
        } catch {
            throw FileError("\(error)")
        }
        guard rename(unfinished, ledgerPath) == 0 else { throw .lastError("\(ledgerPath) cannot be written") }
    }

    /// Removes the oldest of the counted reports beyond those that are kept.
    private func forgetOldReports() {
        guard let files = try? files() else { return }
        let counted = files.filter { $0.hasSuffix(Self.countedSuffix) }.map { file in
            var status = stat()
            _ = stat("\(path)/\(file)", &status)  // of one that is gone the time is 1970
            return (file: file, seconds: status.st_mtim.tv_sec)
        }
        for (file, _) in counted.sorted(by: { $0.seconds < $1.seconds }).dropLast(Self.reportsKept) {
            unlink("\(path)/\(file)")
        }
    }
}
