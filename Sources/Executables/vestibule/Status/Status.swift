import ArgumentParser
import Foundation
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule status`: one screen about a running system.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show each running program, and what needs attention.",
        discussion: """
            Reads the metrics of each program, and of each replica that a name stands for. It asks for nothing else \
            and changes nothing. With `make run` no more is needed; elsewhere name the addresses by --target or by the \
            keys below. In containers: docker compose -f docker/compose.yaml run --rm status.

            The exit code is 0 if nothing fails, 1 if something does. Warnings don't count.

            \(ConfigurationHelp.text(keys))
            """
    )

    static let programs = ["identity", "profile", "invites", "gateway"]
    /// What has metrics: the programs, and `vestibule backup follow`.
    private static let measured = programs + ["backup"]
    private static let keys: [any AnyConfigurationKey] = measured.map { SharedKeys.metricsListen(program: $0) }
    /// Time for each step of a request to a program.
    private static let timeoutMilliseconds = 2000

    /// Where the metrics of a program are.
    struct Target: ExpressibleByArgument, Sendable {
        let program: String
        let address: HostPort

        init?(argument: String) {
            let parts = argument.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, measured.contains(String(parts[0])), let address = HostPort(String(parts[1])),
                address.port > 0
            else { return nil }
            program = String(parts[0])
            self.address = address
        }
    }

    @OptionGroup var file: ConfigurationFileOption
    @Option(
        help: ArgumentHelp(
            "Where a program's metrics are, such as identity=identity:9464; repeat it.",
            valueName: "program=host:port"
        )
    )
    var target: [Target] = []
    @Flag(help: "Show it again every two seconds, until Ctrl-C.")
    var watch = false
    @Flag(help: "Print one line of JSON.")
    var json = false

    func run() throws {
        let targets = target.isEmpty ? Self.targets(path: file.path) : target
        guard !targets.isEmpty else {
            Program.end(
                "vestibule status: no addresses: give --target identity=HOST:PORT, or VESTIBULE_IDENTITY_METRICS_LISTEN and so on",
                code: EX_CONFIG
            )
        }
        repeat {
            let table = Self.table(targets)
            let text = json ? try StatusJSON(table).text() : table.text
            // Clears the screen and begins at its top.
            print(watch && !json ? "\u{1B}[2J\u{1B}[H\(text)" : text)
            fflush(nil)
            if watch {
                sleep(2)
            } else {
                Program.end(nil, code: table.findings.hasFailure ? 1 : 0)
            }
        } while true
    }

    /// The addresses that are configured, in the order of calls.
    ///
    /// - Parameter isQuiet: whether faults of the configuration are somebody else's to report; there are no addresses then.
    static func targets(path: String?, isQuiet: Bool = false) -> [Target] {
        let configuration: Configuration
        if isQuiet {
            let environment = ProcessInfo.processInfo.environment
            guard let found = try? Configuration.load(only: keys, path: path, environment: environment) else {
                return []
            }
            configuration = found
        } else {
            configuration = Program.configuration(keys: keys, program: "status", path: path)
        }
        return measured.compactMap { program in
            configuration[SharedKeys.metricsListen(program: program)].map {
                Target(program: program, address: $0.reachable)
            }
        }
    }

    private static func table(_ targets: [Target]) -> StatusTable {
        StatusTable(programs: statuses(targets), now: Date().timeIntervalSince1970)
    }

    /// What the programs say. Blocks.
    static func statuses(_ targets: [Target]) -> [ProgramStatus] {
        MetricsTarget.readAll(
            targets.map { MetricsTarget(program: $0.program, address: $0.address) },
            timeoutMilliseconds: timeoutMilliseconds
        )
    }
}

extension Status.Target {
    init(program: String, address: HostPort) {
        self.program = program
        self.address = address
    }
}
