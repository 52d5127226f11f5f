import Foundation

extension LocalCluster {
    /// The server's settings.
    public struct Settings: Sendable, Equatable {
        /// The maximum of connections.
        public var connectionsMax: Int
        /// Whether a commit survives a power failure. Commits always survive a crash of the server alone.
        public var isDurable: Bool
        /// Further lines of `postgresql.conf`, by name.
        public var parameters: [String: String]

        /// Settings with these values.
        public init(connectionsMax: Int = 200, isDurable: Bool = true, parameters: [String: String] = [:]) {
            self.connectionsMax = connectionsMax
            self.isDurable = isDurable
            self.parameters = parameters
        }

        /// For durable data: `fsync` on.
        public static let durable = Settings()

        /// For tests: never waits for the disk.
        public static let volatileForTests = Settings(
            connectionsMax: 300,
            isDurable: false,
            parameters: [
                "shared_buffers": "32MB", "max_wal_size": "256MB", "wal_level": "minimal", "max_wal_senders": "0",
            ]
        )

        /// The text of `postgresql.conf`: no TCP, one socket that only the server's user and root can reach.
        func configurationText(folder: ClusterFolder, socketFolder: String, port: Int) -> String {
            var values: [String: String] = [
                "data_directory": folder.data,
                "hba_file": folder.hostAccess,
                "ident_file": folder.userMap,
                "listen_addresses": "",
                "port": "\(port)",
                "unix_socket_directories": socketFolder,
                "unix_socket_permissions": "0700",
                "max_connections": "\(connectionsMax)",
                "password_encryption": "scram-sha-256",
                "timezone": "UTC",
                "log_timezone": "UTC",
                "lc_messages": "C",
                "log_line_prefix": "%m [%p] %q%u@%d ",
                "fsync": isDurable ? "on" : "off",
                // Always on: without it a killed server loses commits that it has confirmed.
                "synchronous_commit": "on",
                "full_page_writes": isDurable ? "on" : "off",
                // Serializable transactions (VESTIBULE_DATABASE_ENGINE=distributed) lock what they read.
                "max_pred_locks_per_transaction": "256",
            ]
            values.merge(parameters) { _, ours in ours }
            return values.sorted { $0.key < $1.key }
                .map { "\($0.key) = '\($0.value.replacingOccurrences(of: "'", with: "''"))'" }
                .joined(separator: "\n") + "\n"
        }
    }

    /// The text of `pg_hba.conf`: the superuser is authenticated by the caller's user of the operating system, others by password.
    static func hostAccessText(superuser: String, callerHasName: Bool) -> String {
        // In a container we may run as a user without a name, which "peer" can't look up. "trust" is safe, since no other user can
        // enter the socket's folder.
        """
        local all \(superuser) \(callerHasName ? "peer map=owner" : "trust")
        local all all scram-sha-256
        local replication all scram-sha-256

        """
    }

    /// The operating system's users that may connect as superuser: the caller's and the server's.
    static func userMapText(superuser: String, names: [String]) -> String {
        Set(names).sorted().map { "owner \"\($0)\" \(superuser)\n" }.joined()
    }
}
