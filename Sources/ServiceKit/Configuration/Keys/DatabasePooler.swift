/// What is between the services and PostgreSQL, as the configuration says it.
public enum DatabasePooler: String, CaseIterable, Sendable {
    /// No pooler.
    case none
    /// One that gives a session to one client for as long as it stays.
    case session
    /// One that gives a session to one client for each transaction.
    case transaction
}

extension Configuration {
    /// What is wrong with the keys of a pooler.
    public var databasePoolerFaults: [ConfigurationError] {
        guard self[SharedKeys.databasePooler] == .none, self[SharedKeys.databaseDirectHost] != nil else { return [] }
        return [
            ConfigurationError(
                key: SharedKeys.databaseDirectHost.name,
                problem: "is used only if \(SharedKeys.databasePooler.name) is session or transaction"
            )
        ]
    }

    /// What keeps migrations, and the making of roles, from a session of their own.
    public var databaseSessionFaults: [ConfigurationError] {
        guard self[SharedKeys.databasePooler] == .transaction, self[SharedKeys.databaseDirectHost] == nil else {
            return []
        }
        return [
            ConfigurationError(
                key: SharedKeys.databaseDirectHost.name,
                problem:
                    "must name PostgreSQL itself for migrations, since a pooler in transaction mode gives no session"
            )
        ]
    }
}
