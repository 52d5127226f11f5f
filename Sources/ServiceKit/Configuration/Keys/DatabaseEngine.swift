/// What kind of database PostgreSQL's protocol leads to, as the configuration says it.
public enum DatabaseEngine: String, CaseIterable, Sendable {
    /// PostgreSQL itself.
    case postgresql
    /// A distributed database, whose transactions are serializable and are done again if another was in the way.
    case distributed
}
