/// A row of a table of accounts that were opened with a code sent to a phone.
enum PhoneCodeRow {
    static func account(_ record: ImportRecord, _ plan: ImportPlan) -> RowOutcome {
        let columns = plan.columns
        guard let oldID = record.text(columns.id)?.trimmedSpaces,
            let userID = ImportedID.userID(of: oldID, source: plan.sourceName)
        else { return .rejected(oldID: record.text(columns.id) ?? "", .idInvalid) }
        var account = ImportedAccount(oldID: oldID, userID: userID)
        account.phone = record.text(columns.phone)
        account.names = [columns.name.flatMap { record.text($0) }].compactMap(\.self)
        account.username = columns.username.flatMap { record.text($0) }
        if let text = columns.createdAt.flatMap({ record.text($0) }) {
            guard let createdAt = ImportTime.milliseconds(text) else {
                return .rejected(oldID: oldID, .createdAtInvalid)
            }
            account.createdAtMilliseconds = createdAt
        }
        return .account(account)
    }
}

/// The result of reading a row.
enum RowOutcome: Sendable {
    /// An account.
    case account(ImportedAccount)
    /// The row is rejected.
    case rejected(oldID: String, ImportReason)
}
