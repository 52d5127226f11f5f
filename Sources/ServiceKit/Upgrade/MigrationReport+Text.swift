extension MigrationReport {
    /// The report as lines for people, without an end of line.
    public var text: String { ([headline] + steps.flatMap(lines) + conclusion).joined(separator: "\n") }

    /// How times were counted, for the end of a page of reports; nil if none was.
    public static func basis(of reports: [MigrationReport]) -> String? {
        let tables = reports.flatMap(\.steps).flatMap(\.tables)
        guard !tables.isEmpty else { return nil }
        let rates = Set(
            tables.compactMap { table in
                table.bytesPerSecond.map { "\(table.work.words) at \(bytes($0))/s" }
            }
        )
        let counted =
            rates.isEmpty ? "no migration reads or writes rows" : rates.sorted().joined(separator: ", ")
        return
            "Times are orders of magnitude (\(counted)), from when the lock is held. While a migration waits for its lock, "
            + "others wait behind it, for at most 3 s a try."
    }

    private var headline: String {
        let count = steps.filter { $0.number > 0 }.count
        let todo =
            switch count {
            case 0: "nothing to migrate"
            case 1: "1 migration to run"
            default: "\(count) migrations to run"
            }
        return "\(service): database \(Self.place(database)), program \(Self.place(program)): \(todo)"
    }

    private var conclusion: [String] {
        switch verdict {
        case .upToDate, .new, .allowed: []
        case .newerDatabase: ["  The database is newer. This program runs on it as it is."]
        case .tooFar:
            [
                "  NOT ALLOWED: versions between were left out. The version that runs now may not run on the new tables: upgrade to "
                    + "\(versionToStart ?? "?") first."
            ]
        case .tooNew:
            [
                "  NOT ALLOWED: the database is too new for this program, which would not start. Start \(versionToStart ?? "?") or a later "
                    + "version."
            ]
        }
    }

    private static func place(_ place: Place) -> String {
        place.migration == 0 ? "empty" : "at \(place.migration)" + (place.version.map { " (\($0))" } ?? "")
    }

    private func lines(of step: Step) -> [String] {
        let title = step.number == 0 ? "  -  \(step.name)" : "  \(step.number)  \(step.name)"
        guard !step.tables.isEmpty else { return [title + ": no table that is there"] }
        let rows = step.tables.map { table in
            [
                table.name, table.lock, Self.waiting(table.blocks), table.work.words,
                table.totalBytes.map { "\(table.rows.map(Self.grouped) ?? "?") rows, \(Self.bytes($0))" } ?? "new",
                Self.magnitude(table.lockSeconds),
            ]
        }
        return [title] + Self.columns(rows).map { "     " + $0 }
    }

    private static func waiting(_ blocks: String) -> String {
        switch blocks {
        case "all": "reads and writes wait"
        case "writes": "writes wait"
        default: "nobody waits"
        }
    }

    private static func columns(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let last = row.count - 1
            return zip(row, widths).enumerated().map { index, cell in
                index == last ? cell.0 : cell.0 + String(repeating: " ", count: cell.1 - cell.0.count)
            }.joined(separator: "  ")
        }
    }

    /// A time by its order of magnitude.
    static func magnitude(_ seconds: Double) -> String {
        switch seconds {
        case ..<0.1: "milliseconds"
        case ..<1: "under a second"
        case ..<10: "seconds"
        case ..<60: "tens of seconds"
        case ..<600: "minutes"
        case ..<3600: "tens of minutes"
        default: "hours"
        }
    }

    static func bytes(_ count: Int64) -> String {
        let units = ["kB", "MB", "GB", "TB"]
        var (value, unit) = (Double(count) / 1000, 0)
        while value >= 1000, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        return "\(value < 10 ? (value * 10).rounded() / 10 : value.rounded()) \(units[unit])"
            .replacing(".0 ", with: " ")
    }

    private static func grouped(_ count: Int64) -> String {
        let digits = Array("\(count)")
        return digits.enumerated().map { index, digit in
            index > 0 && (digits.count - index) % 3 == 0 ? ",\(digit)" : "\(digit)"
        }.joined()
    }
}

extension String {
    /// The name of a kind of work as words.
    fileprivate var words: String { replacing("_", with: " ") }
}
