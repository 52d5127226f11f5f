import ArgumentParser
import Backup
import Foundation
import Logging
import ServiceCommands
import ServiceKit

/// `vestibule backup`: backups of the database and of the keys.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Back up the database, the log of deleted accounts and the keys; list the backups.",
        discussion: """
            A backup is a copy of the whole PostgreSQL cluster, made by its own pg_basebackup while everything runs. \
            `backup follow` also receives the write-ahead log as it is written, so that `vestibule restore --to` reaches any \
            time since the oldest backup. See docs/run/back-up.md.

            \(ConfigurationHelp.text(BackupKeys.all))
            """,
        subcommands: [Make.self, Follow.self, Healthcheck.self, List.self, OpenSecrets.self],
        defaultSubcommand: Make.self
    )

    /// One whole backup, now.
    struct Make: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a whole backup now; the default.")

        @OptionGroup var file: ConfigurationFileOption

        func run() async {
            do {
                let outcome = try await BackupMaker(try file.backupSettings()).make(showsProgress: isatty(2) == 1)
                print("made the backup \(outcome.backup.name), \(BackupText.size(outcome.backup.bytes))")
                if let secrets = outcome.secretsFile { print("sealed the keys into \(secrets)") }
                if !outcome.deleted.isEmpty { print("deleted \(outcome.deleted.joined(separator: ", "))") }
            } catch {
                Program.end(error, program: "vestibule backup")
            }
            Program.end(nil, code: 0)
        }
    }

    /// The log as it is written, and whole backups.
    struct Follow: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Receive the write-ahead log and the deletions as they happen, and make whole backups, until Ctrl-C.",
            discussion: """
                What fails is said and retried. While it doesn't run, PostgreSQL keeps its log for it, up to \
                max_slot_wal_keep_size; if that is too little, it begins again with a whole backup.
                """
        )

        @OptionGroup var file: ConfigurationFileOption

        func run() async {
            let signals = ShutdownSignals()
            do {
                let settings = try file.backupSettings()
                let metrics = BackupMetrics(settings)
                let registry = MetricsRegistry()
                registry.add(metrics)
                let served = try ServedMetrics(
                    program: "backup",
                    address: settings.metricsListen,
                    registry: registry,
                    // The lines of this command say what there is to say.
                    logger: Logger(label: "backup") { _ in SwiftLogNoOpLogHandler() }
                )
                defer { withExtendedLifetime(served) {} }
                let say: @Sendable (String) -> Void = { line in
                    print("\(Date().formatted(.iso8601)) \(line)")
                    fflush(nil)
                }
                if let address = settings.metricsListen, let port = served.port {
                    say("metrics are at \(HostPort(host: address.host, port: port))")
                }
                let follower = BackupFollower(settings, metrics: metrics, say: say)
                try await follower.run { signals.wasReceived }
            } catch {
                Program.end(error, program: "vestibule backup follow")
            }
            Program.end(nil, code: 0)
        }
    }

    /// For a container's health check.
    struct Healthcheck: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask `vestibule backup follow` whether it receives the log; exits with 0 or 1.",
            discussion: "It reads the metrics at \(BackupKeys.metricsListen.name)."
        )
        /// The follower asks each five seconds.
        private static let ageMax = 60.0
        private static let timeoutMilliseconds = 3000

        @OptionGroup var file: ConfigurationFileOption

        func run() {
            do {
                guard let address = try file.backupSettings().metricsListen else {
                    let key = BackupKeys.metricsListen.name
                    throw ConfigurationErrors([ConfigurationError(key: key, problem: "is required")])
                }
                let text = HTTPProbe.body(
                    address: address.reachable,
                    path: "/metrics",
                    timeoutMilliseconds: Self.timeoutMilliseconds,
                    bytesMax: 1 << 20
                )
                guard let followed = text.flatMap({ MetricsReading(text: $0).value(BackupMetrics.followedName) }) else {
                    Program.end("vestibule backup: nothing follows at \(address.reachable)", code: 1)
                }
                let age = Date().timeIntervalSince1970 - followed
                guard age <= Self.ageMax else {
                    Program.end("vestibule backup: the log was last received \(Int(age)) s ago", code: 1)
                }
            } catch {
                Program.end(error, program: "vestibule backup healthcheck")
            }
        }
    }

    /// What there is.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the whole backups, the oldest first.")

        @OptionGroup var file: ConfigurationFileOption
        @Flag(help: "Print JSON.")
        var json = false

        func run() {
            do {
                let backups = try file.backupSettings().folder.backups()
                if json {
                    let encoder = JSONEncoder()
                    encoder.dateEncodingStrategy = .iso8601
                    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
                    print(String(decoding: try encoder.encode(backups), as: UTF8.self))
                    return
                }
                for backup in backups {
                    print(
                        "\(backup.name)  complete at \(backup.endedAt.formatted(.iso8601))  \(BackupText.size(backup.bytes))"
                    )
                }
                if backups.isEmpty { print("there is no backup") }
            } catch {
                Program.end(error, program: "vestibule backup list")
            }
        }
    }

    /// The sealed keys.
    struct OpenSecrets: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "open-secrets",
            abstract: "Unpack sealed keys into a new folder.",
            discussion:
                "OpenSSL does the same: openssl cms -decrypt -inform DER -in FILE -inkey KEY -recip CERTIFICATE | tar x"
        )

        @Argument(help: "The file, such as secrets/20261128T055000Z.tar.cms.")
        var sealed: String
        @Option(help: "The private key, PEM.")
        var key: String
        @Option(help: "Its certificate, PEM.")
        var certificate: String
        @Option(help: "The folder to make.")
        var into: String

        func run() {
            do {
                try SealedArchive.open(sealed, keyFile: key, certificateFile: certificate, into: into)
                print("unpacked into \(into)")
            } catch {
                Program.end(error, program: "vestibule backup open-secrets")
            }
        }
    }
}

extension ConfigurationFileOption {
    /// The settings of backups; ends the process if they have errors.
    func backupSettings() throws -> BackupSettings {
        try BackupSettings(Program.configuration(keys: BackupKeys.all, program: "backup", path: path))
    }
}

/// Words for people.
enum BackupText {
    /// Bytes, such as `1.2 GB`.
    static func size(_ bytes: Int64) -> String { bytes.formatted(.byteCount(style: .file)) }
}
