import Foundation

extension LocalCluster {
    /// How the server is set up.
    public struct Settings: Sendable, Equatable {
        /// The connections that the server takes at most.
        public var connectionsMax: Int
        /// Whether a commit survives a power cut. Without it, a crash of the server alone still loses nothing.
        public var isDurable: Bool
        /// Further lines of `postgresql.conf`, by name.
        public var parameters: [String: String]

        /// Settings of one's own choice.
        public init(connectionsMax: Int = 200, isDurable: Bool = true, parameters: [String: String] = [:]) {
            self.connectionsMax = connectionsMax
            self.isDurable = isDurable
            self.parameters = parameters
        }

        /// For data that must last: `fsync` on.
        public static let durable = Settings()

        /// For tests: nothing waits for the disk.
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
                // Always: without it a killed server forgets commits that it has confirmed.
                "synchronous_commit": "on",
                "full_page_writes": isDurable ? "on" : "off",
            ]
            values.merge(parameters) { _, ours in ours }
            return values.sorted { $0.key < $1.key }
                .map { "\($0.key) = '\($0.value.replacingOccurrences(of: "'", with: "''"))'" }
                .joined(separator: "\n") + "\n"
        }
    }

    /// Who may connect: the superuser by the operating system's identity of the caller, everyone else by password.
    static func hostAccessText(superuser: String, callerHasName: Bool) -> String {
        // A container may run us as a user without a name, whom "peer" can't look up. The socket's folder is
        // closed to all others, so "trust" admits nobody else.
        """
        local all \(superuser) \(callerHasName ? "peer map=owner" : "trust")
        local all all scram-sha-256

        """
    }

    /// Which of the operating system's users may be the superuser: the caller and the server's own.
    static func userMapText(superuser: String, names: [String]) -> String {
        Set(names).sorted().map { "owner \"\($0)\" \(superuser)\n" }.joined()
    }
}
