/// What keeps a connection from being made, read from its message: libpq gives no code for it, and the server's words may
/// be in another language.
public enum ConnectionFault: Sendable, Hashable, CaseIterable {
    /// The host's name has no address.
    case noAddress
    /// Nothing listens there.
    case refused
    /// Nothing answers in time.
    case timeout
    /// The password is another one, or the role isn't there, and the server's answer is the same for both.
    case password
    /// The server wants a password, and there is none.
    case noPassword
    /// There is no such role.
    case noRole
    /// There is no such database.
    case noDatabase
    /// The role may not use the database.
    case noPrivilege
    /// The server's own list (`pg_hba.conf`) doesn't admit the role from here in this way.
    case notAdmitted
    /// The server's certificate isn't one that proves the host's name, or the file of authorities can't be read.
    case certificate
    /// The server speaks no TLS.
    case noTLS
    /// The server has no room for more connections.
    case tooMany
    /// A pooler that the configuration doesn't know of.
    case pooler

    /// The words of libpq 15 and PostgreSQL 15 to 18, of PgBouncer, and our own, in this order.
    private static let words: [(ConnectionFault, [String])] = [
        (.noAddress, ["could not translate host name", "name has no address", "looking up the database's name"]),
        (.certificate, ["certificate verify failed", "does not match host name", "root certificate file"]),
        (.noTLS, ["server does not support SSL"]),
        (.noPassword, ["no password supplied"]),
        (.password, ["password authentication failed", "Peer authentication failed", "SASL authentication failed"]),
        (.notAdmitted, ["pg_hba.conf"]),
        (.noPrivilege, ["permission denied for database"]),
        (
            .tooMany,
            [
                "too many clients", "too many connections", "connection slots are reserved",
                "no more connections allowed",
            ]
        ),
        (.pooler, ["a connection pooler is between"]),
        (.refused, ["Connection refused", "No such file or directory", "No route to host", "Network is unreachable"]),
        (.timeout, ["timeout expired", "Connection timed out", "connecting took too long", "took too long to begin"]),
    ]

    /// Nil for words of another kind, such as those of a server that is starting.
    public init?(reason: String) {
        let kinds = [("role \"", Self.noRole), ("database \"", .noDatabase)]
        if reason.contains("\" does not exist"), let kind = kinds.first(where: { reason.contains($0.0) }) {
            self = kind.1
            return
        }
        guard let found = Self.words.first(where: { $0.1.contains { reason.contains($0) } }) else { return nil }
        self = found.0
    }
}

extension PostgresConfiguration {
    /// The reason why there is no connection, with the advice that belongs to it.
    func advised(_ reason: String) -> String {
        guard let fault = ConnectionFault(reason: reason), let advice = advice?(fault) else { return reason }
        return "\(reason); \(advice)"
    }
}
