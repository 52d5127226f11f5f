/// Ids of the rows of a log: random numbers instead of a sequence, which all servers of a distributed database would have to share, and
/// whose next values would all lie in one range.
public enum RandomRowID {
    /// The migration of a table whose column `id` was an identity column.
    public static func sql(table: String) -> String {
        """
        ALTER TABLE \(table) ALTER COLUMN id DROP IDENTITY;
        ALTER TABLE \(table) ALTER COLUMN id SET DEFAULT hashtextextended(gen_random_uuid()::text, 0) & 9223372036854775807;
        """
    }
}
