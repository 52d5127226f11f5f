import Postgres
import ServiceKit

/// The keys that say where a program's database is and as whom it connects: what to look at when it can't.
public struct DatabaseSettings: Sendable {
    private let user: String
    private let password: String
    private let connections: String?
    private var host = SharedKeys.databaseHost.name
    private var port = SharedKeys.databasePort.name

    /// The keys of a role.
    ///
    /// - Parameters:
    ///   - user: the key of its name.
    ///   - password: the key of its password.
    ///   - connections: the key of how many connections there may be; nil where there is one at a time.
    public init(user: String, password: String, connections: String? = nil) {
        self.user = user
        self.password = password
        self.connections = connections
    }

    /// The keys of a service.
    init(_ keys: ServiceKeys) {
        self.init(
            user: keys.databaseUser.name,
            password: keys.databasePassword.name,
            connections: keys.databaseConnections.name
        )
    }

    /// The keys of the owner of a service's tables.
    init(ownerOf keys: ServiceKeys) {
        self.init(user: keys.databaseOwner.name, password: keys.databaseOwnerPassword.name)
    }

    /// The same where PostgreSQL itself is reached beside its pooler.
    var direct: DatabaseSettings {
        var settings = self
        settings.host = SharedKeys.databaseDirectHost.name
        settings.port = SharedKeys.databaseDirectPort.name
        return settings
    }

    /// The key that a fault is about first.
    func key(of fault: ConnectionFault) -> String {
        switch fault {
        case .noAddress, .refused, .timeout, .notAdmitted: host
        case .password, .noPassword: password
        case .noRole, .noPrivilege: user
        case .noDatabase: SharedKeys.databaseName.name
        case .certificate: SharedKeys.databaseAuthorities.name
        case .noTLS: SharedKeys.databaseTLS.name
        case .tooMany: connections ?? host
        case .pooler: SharedKeys.databasePooler.name
        }
    }

    /// What to look at, as a clause that follows the reason.
    func advice(_ fault: ConnectionFault) -> String {
        let (name, tls) = (SharedKeys.databaseName.name, SharedKeys.databaseTLS.name)
        switch fault {
        case .noAddress: return "see \(host)"
        case .refused: return "nothing listens there: see \(host) and \(port)"
        case .timeout: return "nothing answers there: see \(host) and \(port)"
        case .password: return "see \(password) and \(user)"
        case .noPassword: return "set \(password)"
        case .noRole: return "see \(user); `vestibule roles` makes the roles"
        case .noDatabase: return "see \(name); `vestibule roles` makes the database"
        case .noPrivilege: return "see \(user) and \(name); `vestibule roles` grants what a role needs"
        case .notAdmitted: return "let the server admit the role of \(user) from here, or see \(tls)"
        case .certificate:
            return
                "see \(SharedKeys.databaseAuthorities.name) and \(tls); the name in \(host) must be in the certificate"
        case .noTLS: return "see \(tls)"
        case .tooMany:
            guard let connections else { return "raise PostgreSQL's max_connections" }
            return
                "raise PostgreSQL's max_connections, or lower \(connections), which counts for each event loop of each replica"
        case .pooler: return "set \(SharedKeys.databasePooler.name) to its mode"
        }
    }
}
