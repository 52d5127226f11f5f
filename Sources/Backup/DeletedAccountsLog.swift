import FoundationEssentials
import Glibc
import ServiceKit

/// An account that was closed.
struct DeletedAccount: Sendable, Hashable {
    let id: String
    /// The reason in `account_closings`.
    let reason: String
    let deletedAt: Date
}

/// The log of deleted accounts beside the backups: a database that is restored to a time before a deletion doesn't know of it.
///
/// A line has the account's id, the time and the reason, which identify nobody. Lines are added and synced; none is changed. One process
/// at a time writes it.
struct DeletedAccountsLog {
    private let path: String
    private var known: Set<String> = []
    /// The time of the newest line.
    private(set) var newest: Date?

    /// Reads what is there. A line that was cut by a crash is ended, and ignored.
    init(path: String) throws {
        self.path = path
        guard access(path, F_OK) == 0 else { return }
        let bytes = try FileBytes.read(path, bytesMax: 1 << 30)
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count == 3, let time = Self.date(fields[1]) else { continue }
            known.insert(String(fields[0]))
            newest = max(newest ?? time, time)
        }
        if let last = bytes.last, last != UInt8(ascii: "\n") { try append("\n") }
    }

    /// Adds those that it doesn't have.
    ///
    /// - Returns: how many it added.
    @discardableResult
    mutating func add(_ accounts: [DeletedAccount]) throws -> Int {
        let new = accounts.filter { !known.contains($0.id) }
        guard !new.isEmpty else { return 0 }
        try append(new.map { "\($0.id) \(Self.text($0.deletedAt)) \($0.reason)\n" }.joined())
        for account in new {
            known.insert(account.id)
            newest = max(newest ?? account.deletedAt, account.deletedAt)
        }
        return new.count
    }

    private func append(_ text: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileError.lastError("\(path) cannot be opened") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            throw FileError.lastError("\(path) cannot be written")
        }
    }

    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static func text(_ date: Date) -> String { date.formatted(style) }
    private static func date(_ text: Substring) -> Date? { try? Date(String(text), strategy: style) }
}
