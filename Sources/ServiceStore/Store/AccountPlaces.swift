import Postgres
import ServiceKit

/// Where a service has something of an account, for an operator's questions: each looks at whole tables if it must.
public struct AccountPlace: Sendable {
    /// How long one question may take.
    public static let timeout = Duration.seconds(600)

    private let name: String
    private let table: String
    private let condition: String

    /// A place.
    ///
    /// - Parameters:
    ///   - name: how the answer calls it; the table if nil.
    ///   - table: the table.
    ///   - condition: which of its rows are the account's, whose id is `person.id`.
    public init(_ table: String, _ condition: String = "user_id = person.id", as name: String? = nil) {
        self.name = name ?? table
        self.table = table
        self.condition = condition
    }

    /// What there is of an account in these places.
    public static func trace(
        _ id: PostgresUUID,
        held: [AccountPlace],
        kept: [AccountPlace],
        in database: PostgresClient
    ) async throws -> AccountTrace {
        AccountTrace(held: try await count(held, id, database), kept: try await count(kept, id, database))
    }

    private static func count(
        _ places: [AccountPlace],
        _ id: PostgresUUID,
        _ database: PostgresClient
    ) async throws -> [AccountTrace.Place] {
        var counts: [AccountTrace.Place] = []
        for place in places {
            let rows = try await database.query(
                """
                SELECT count(*) FROM (SELECT \(id) AS id) person, \(unsafeSQL: place.table) place
                WHERE \(unsafeSQL: place.condition)
                """
            )
            counts.append(.init(name: place.name, count: try rows.first?.decode(0, as: Int64.self) ?? 0))
        }
        return counts
    }
}
