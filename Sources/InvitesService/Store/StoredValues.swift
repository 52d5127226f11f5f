import Models
import Postgres

extension Identifier {
    /// The id as PostgreSQL's `uuid`.
    var uuid: PostgresUUID { PostgresUUID(high: high, low: low) }

    /// The id that a `uuid` column holds.
    init(_ uuid: PostgresUUID) { self.init(high: uuid.high, low: uuid.low) }
}

extension PostgresTimestamp {
    /// The time of Unix milliseconds.
    init(milliseconds: Int64) { self.init(microsecondsSince1970: milliseconds * 1_000) }

    /// The time in Unix milliseconds.
    var milliseconds: Int64 { microsecondsSince1970 / 1_000 }
}
