/// Which migrations are to be applied, decided from what the program and the database have.
enum MigrationPlan {
    struct Applied: Hashable {
        let number: Int
        let checksum: String
        /// The oldest program that runs on the tables after it; nil if a program of 0.9 has applied it.
        var oldestProgram: MinorVersion?

        init(number: Int, checksum: String, oldestProgram: MinorVersion? = nil) {
            self.number = number
            self.checksum = checksum
            self.oldestProgram = oldestProgram
        }
    }

    /// The columns of `Applied`, as text or numbers, of a table that a program of 0.9 may have made, which has no column for the oldest
    /// program.
    static func columns(of table: String) -> String {
        "number, checksum, coalesce(to_jsonb(\(table)) ->> 'oldest_program', '')"
    }

    /// The numbers must run from 1 without gaps.
    static func check(_ migrations: [Migration]) throws(MigrationError) {
        for (index, migration) in migrations.enumerated() {
            guard migration.number == index + 1 else {
                throw .misnumbered(expected: index + 1, found: migration.number)
            }
            if let name = migration.concurrentIndex, !isPlain(name) { throw .invalidIndex(name) }
        }
    }

    /// Whether a name is a plain identifier, which needs no quotes.
    static func isPlain(_ name: String) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= 63 else { return false }
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == 0x5F }
        return !isDigit(first) && name.utf8.allSatisfy { isLetter($0) || isDigit($0) }
    }

    /// What is to be applied. Migrations that the program doesn't know, since it is older than the database, are none of
    /// its business: the version before runs on the tables after them. An older one doesn't, and is refused.
    ///
    /// - Parameter applied: in ascending order.
    static func pending(
        _ migrations: [Migration],
        applied: [Applied]
    ) throws(MigrationError) -> ArraySlice<Migration> {
        try check(migrations)
        for (index, record) in applied.enumerated() {
            guard record.number == index + 1 else { throw .missing(number: index + 1) }
            guard index < migrations.count else {
                if let oldest = record.oldestProgram, MinorVersion.current < oldest { throw .tooNew(oldest: oldest) }
                continue
            }
            let migration = migrations[index]
            guard migration.checksum == record.checksum else {
                throw .changed(number: migration.number, name: migration.name)
            }
        }
        return migrations[min(applied.count, migrations.count)...]
    }
}
