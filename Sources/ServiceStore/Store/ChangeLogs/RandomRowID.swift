/// Ids of the rows of a log in a distributed database: random numbers instead of a sequence, which all its servers would have to share, and
/// whose next values would all lie in one range. PostgreSQL keeps the sequence, by which the rows of one transaction are in order.
public enum RandomRowID {
    /// The migration of a table whose column `id` was an identity column.
    public static func sql(table: String) -> String {
        """
        ALTER TABLE \(table) ALTER COLUMN id DROP IDENTITY;
        ALTER TABLE \(table) ALTER COLUMN id SET DEFAULT hashtextextended(gen_random_uuid()::text, 0) & 9223372036854775807;
        """
    }
}
