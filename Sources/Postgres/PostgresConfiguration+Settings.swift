extension PostgresConfiguration {
    /// The settings of PostgreSQL that statements rely on.
    private var settings: [(name: String, value: String)] {
        var settings = [
            ("statement_timeout", "\(statementTimeout.wholeMilliseconds)"),
            ("lock_timeout", "\(lockTimeout.wholeMilliseconds)"),
            ("idle_in_transaction_session_timeout", "\(idleInTransactionTimeout.wholeMilliseconds)"),
            // A connection that we give up on must not leave its statement running to the end.
            ("client_connection_check_interval", "1000"),
            // What is prepared is planned once. Left to choose, the server plans statements over few keys each time.
            ("plan_cache_mode", "force_generic_plan"),
            // Statements here take a few rows. Over a table that was never analysed a plan looks dear enough to be compiled,
            // which takes hundreds of milliseconds in each new connection.
            ("jit", "off"),
        ]
        if let isolation = engine.isolation { settings.append(("default_transaction_isolation", isolation)) }
        if let searchPath { settings.append(("search_path", searchPath)) }
        return settings
    }

    /// The statement that makes the settings, and gives the number of the server's process. Not as options of the connection, which poolers
    /// refuse.
    ///
    /// - Parameter isLocal: whether they are for the transaction alone.
    func settingsStatement(isLocal: Bool) -> String {
        let calls = settings.map { "set_config(\(Self.literal($0.name)), \(Self.literal($0.value)), \(isLocal))" }
        return "SELECT pg_backend_pid(), " + calls.joined(separator: ", ")
    }

    /// The configuration for what needs a session of its own; nil if none can be had.
    var forSessions: PostgresConfiguration? {
        guard let direct else { return pooler == .transaction ? nil : self }
        var configuration = self
        configuration.host = direct.host
        configuration.port = direct.port
        configuration.direct = nil
        configuration.advice = directAdvice
        configuration.pooler = .session
        return configuration
    }

    /// A text as SQL, whatever `standard_conforming_strings` is.
    private static func literal(_ text: String) -> String {
        var escaped = ""
        for character in text {
            if character == "'" || character == "\\" { escaped.append(character) }
            escaped.append(character)
        }
        return "E'\(escaped)'"
    }
}
