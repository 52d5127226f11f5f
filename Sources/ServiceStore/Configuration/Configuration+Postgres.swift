import Postgres
import ServiceKit

extension Configuration {
    /// Where the database is, and how it is reached.
    ///
    /// - Parameter settings: the names of the keys that the rest comes from, for the words about a connection that fails.
    public func postgres(
        user: String,
        password: String?,
        database: String,
        applicationName: String,
        settings: DatabaseSettings
    ) -> PostgresConfiguration {
        var postgres = PostgresConfiguration(
            host: self[SharedKeys.databaseHost],
            port: self[SharedKeys.databasePort],
            user: user,
            password: password,
            database: database,
            applicationName: applicationName
        )
        postgres.tls = databaseTLS
        postgres.advice = { settings.advice($0) }
        postgres.directAdvice = { settings.direct.advice($0) }
        postgres.pooler =
            switch self[SharedKeys.databasePooler] {
            case .none: .none
            case .session: .session
            case .transaction: .transaction
            }
        postgres.engine =
            switch self[SharedKeys.databaseEngine] {
            case .postgresql: .postgresql
            case .distributed: .distributed
            }
        postgres.injectedConflicts = Double(self[SharedKeys.databaseInjectedConflicts]) / 1000
        postgres.direct = self[SharedKeys.databaseDirectHost].map { ($0, self[SharedKeys.databaseDirectPort]) }
        return postgres
    }

    /// How connections to the database are secured: as `VESTIBULE_DATABASE_TLS` says, or else so that nothing leaves the
    /// machine in clear.
    public var databaseTLS: PostgresTLS {
        let authorities = self[SharedKeys.databaseAuthorities]
        switch self[SharedKeys.databaseTLS] {
        case .disable: return .disable
        case .prefer: return .prefer
        case .require: return .require
        case .verifyFull: return .verifyFull(authoritiesFile: authorities)
        case .auto:
            let hosts = [self[SharedKeys.databaseHost], self[SharedKeys.databaseDirectHost] ?? ""]
            let staysHere = hosts.flatMap { $0.split(separator: ",") }.allSatisfy(Self.isThisMachine)
            return staysHere && authorities == nil ? .prefer : .verifyFull(authoritiesFile: authorities)
        }
    }

    /// A host that is the folder of a socket or a loopback address (RFC 5735 section 3, RFC 4291 section 2.5.3).
    private static func isThisMachine(_ host: Substring) -> Bool {
        let host = host.trimmingSpaces
        if host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
