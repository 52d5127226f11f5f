import Postgres

/// An outbox as a person looks at it: which rows it has, and what each is about.
public struct OutboxPlace: Sendable {
    /// The service that is told.
    let receiver: String
    let table: String
    let keyColumn: String
    /// What `receiver` is in the rows; nil where there is no such column.
    let filter: String?
    /// What a row of the table `o` is about, as an expression of SQL: without and with what is a person's.
    let about: String
    let aboutInFull: String
    /// What comes before held rows are told again, or forgotten.
    let restate: @Sendable ([Int64]) async throws -> Void

    /// The outbox of these rows.
    ///
    /// - Parameters:
    ///   - receiver: the service that is told, by which a person names the outbox.
    ///   - restate: called with the ids of held rows before they are told again, or forgotten: while they hold up the later ones of their
    ///     keys, which it may add to in transactions of its own. What it added stays also if it then comes to nothing.
    public init<Rows: OutboxRows>(
        _ rows: Rows,
        receiver: String,
        restate: @escaping @Sendable ([Int64]) async throws -> Void = { _ in }
    ) {
        self.receiver = receiver
        self.restate = restate
        table = Rows.table
        keyColumn = Rows.keyColumn
        filter = rows.receiver
        about = Rows.about
        aboutInFull = Rows.aboutInFull
    }

    /// Which rows of a table by this name are of this outbox, behind another condition.
    func isOurs(_ table: String) -> String { filter.map { " AND \(table).receiver = '\($0)'" } ?? "" }
}
