import Logging

/// Reads certificates again on SIGHUP. A certificate that can't be used changes nothing and is logged.
public struct CertificateReload: Sendable {
    private let logger: Logger
    private let faults: @Sendable () -> [ConfigurationError]
    private let reload: @Sendable () async throws -> Void

    /// - Parameters:
    ///   - faults: what is wrong with the files now; if anything is, nothing is reloaded.
    ///   - reload: lets new connections use what the files hold now.
    public init(
        logger: Logger,
        faults: @escaping @Sendable () -> [ConfigurationError],
        reload: @escaping @Sendable () async throws -> Void
    ) {
        self.logger = logger
        self.faults = faults
        self.reload = reload
    }

    /// Reloads at each signal, until the task is cancelled or the signals end.
    public func run(at signals: AsyncStream<Void>) async {
        for await _ in signals { await run() }
    }

    /// Reloads now.
    public func run() async {
        do {
            let faults = faults()
            guard faults.isEmpty else { throw ConfigurationErrors(faults) }
            try await reload()
            logger.notice("certificates read again")
        } catch {
            logger.error("certificates not read again; the former stay", metadata: ["error": "\(error)"])
        }
    }
}
