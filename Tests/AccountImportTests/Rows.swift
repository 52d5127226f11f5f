import JOSE
import Models
import Testing

@testable import AccountImport

/// Rows of a file that is in memory, read to its end.
func rows(
    _ text: String,
    _ plan: ImportPlan = ImportPlan(.phoneCodes),
    pieceBytes: Int = 4096,
    nowMilliseconds: Int64 = 1_700_000_000_000
) throws -> [AccountReader.Row] {
    var reader = try AccountReader(
        plan,
        ByteInput(name: "file", bytes: Array(text.utf8), pieceBytes: pieceBytes),
        nowMilliseconds: nowMilliseconds
    )
    var rows: [AccountReader.Row] = []
    while let row = try reader.next() { rows.append(row) }
    return rows
}

/// What a file's fault says; nil for none.
func problem(_ text: String, _ plan: ImportPlan = ImportPlan(.phoneCodes)) -> String? {
    do {
        _ = try rows(text, plan)
        return nil
    } catch {
        return "\(error)"
    }
}

extension AccountReader.Row {
    /// The row in short, with its line.
    var told: String {
        guard let account else { return "\(line) \(oldID) \(reason.map { "\($0)" } ?? "")" }
        return "\(line) \(account.oldID) \(account.phone ?? "-") \(account.names.first ?? "-")"
    }
}
