import Models
import Postgres

extension Identifier {
    /// The id as PostgreSQL's `uuid`.
    @inlinable public var uuid: PostgresUUID { PostgresUUID(high: high, low: low) }

    /// The id that a `uuid` column holds.
    @inlinable public init(_ uuid: PostgresUUID) { self.init(high: uuid.high, low: uuid.low) }
}
