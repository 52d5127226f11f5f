import ServiceKit

/// A table of text, for people.
enum TextTable {
    /// A line for each row, its cells in columns. Cells are without terminal control sequences.
    static func lines(_ rows: [[String]]) -> [String] {
        let rows = rows.map { $0.map(\.printable) }
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }
    }
}
