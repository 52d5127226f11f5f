import FoundationEssentials
import Glibc
import Logging
import RPCTransport

/// What every executable's subcommands do: configuration, log, the work, and an exit code with one clear line.
public enum Program {
    /// Serves until told to stop. Exits with 0 after a graceful stop, 1 after a fault, 78 if the configuration is at fault.
    public static func serve<Server: ProgramServer>(_ type: Server.Type, configurationPath: String?) async -> Never {
        await run(type, configurationPath: configurationPath) { try await $0.serve() }
    }

    /// Applies migrations. Exits as `serve` does.
    public static func migrate<Server: MigratingServer>(_ type: Server.Type, configurationPath: String?) async -> Never
    {
        await run(type, configurationPath: configurationPath) { try await $0.migrate() }
    }

    /// Examines a program's configuration and what it names, as ``ProgramServer/examine(_:report:)`` does. With a key at fault nothing
    /// else is examined, since what it names can't be known.
    public static func examine<Server: ProgramServer>(
        _ type: Server.Type,
        configurationPath: String?,
        report: (Finding) -> Void
    ) async {
        do throws(ConfigurationErrors) {
            let configuration = try Configuration.load(
                keys: type.configurationKeys,
                program: type.programName,
                path: configurationPath,
                environment: ProcessInfo.processInfo.environment
            )
            await type.examine(configuration, report: report)
        } catch {
            for fault in error.faults { report(Finding(fault)) }
        }
    }

    /// Asks the program that runs with this configuration whether it can be used, as its ``ProgramServer/healthQuestion``
    /// says. Exits with 0 if it can, else 1.
    public static func healthcheck<Server: ProgramServer>(
        _ type: Server.Type,
        configurationPath: String?
    ) async -> Never {
        let address = listenAddress(of: type, configurationPath: configurationPath)
        switch type.healthQuestion {
        case .grpc: await askByGRPC(type, address, probe(of: type, configurationPath, isEdge: false))
        case .http(let path): askByHTTP(type, address, path)
        case .edge(let path):
            let probe = probe(of: type, configurationPath, isEdge: true)
            if probe.tls == nil { askByHTTP(type, address, path) }
            await askByGRPC(type, address, probe)
        }
    }

    /// How the program's own port is asked by gRPC; ends the process if its keys are at fault.
    private static func probe<Server: ProgramServer>(
        of type: Server.Type,
        _ configurationPath: String?,
        isEdge: Bool
    ) -> ChannelConfiguration {
        do {
            return try HealthProbe.configuration(
                program: type.programName,
                path: configurationPath,
                environment: ProcessInfo.processInfo.environment,
                isEdge: isEdge
            )
        } catch {
            end(error, program: type.programName)
        }
    }

    private static func askByGRPC<Server: ProgramServer>(
        _ type: Server.Type,
        _ address: HostPort,
        _ probe: ChannelConfiguration
    ) async -> Never {
        let isServing = await HealthProbe.check(address: address, timeout: .seconds(3), configuration: probe)
        end(isServing ? nil : "\(type.programName): \(address) is not serving", code: isServing ? 0 : 1)
    }

    private static func askByHTTP<Server: ProgramServer>(
        _ type: Server.Type,
        _ address: HostPort,
        _ path: String
    ) -> Never {
        let status = HTTPProbe.status(address: address, path: path, timeoutMilliseconds: 3000)
        let problem = status.map { "answered \($0)" } ?? "does not answer"
        end(status == 200 ? nil : "\(type.programName): \(address)\(path) \(problem)", code: status == 200 ? 0 : 1)
    }

    /// Loads a configuration or ends the process with a line a fault and code 78 (`EX_CONFIG`). Writes its warnings to
    /// standard error: this is for programs without a log.
    public static func configuration(
        keys: [any AnyConfigurationKey],
        program: String,
        path: String?
    ) -> Configuration {
        let configuration = loadConfiguration(keys: keys, program: program, path: path)
        for warning in configuration.warnings { writeError("\(program): warning: \(warning)\n") }
        return configuration
    }

    private static func loadConfiguration(
        keys: [any AnyConfigurationKey],
        program: String,
        path: String?
    ) -> Configuration {
        do {
            return try Configuration.load(
                keys: keys,
                program: program,
                path: path,
                environment: ProcessInfo.processInfo.environment
            )
        } catch {
            end(error, program: program)
        }
    }

    /// Ends the process because of an error: one line, or one a fault of the configuration.
    public static func end(_ error: any Error, program: String) -> Never {
        if let faults = error as? ConfigurationErrors {
            let lines = faults.faults.map { "\(program): \(oneLine($0.description))" }
            end(lines.joined(separator: "\n"), code: EX_CONFIG)
        }
        end("\(program): \(oneLine("\(error)"))", code: 1)
    }

    /// Ends the process now, without running destructors under the feet of threads that still run.
    public static func end(_ line: String?, code: Int32) -> Never {
        if let line { writeError(line + "\n") }
        fflush(nil)
        _exit(code)
    }

    private static func writeError(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(2, bytes, bytes.count)
    }

    /// Does something else with a program's server, such as an operator's command. Exits as `serve` does.
    public static func run<Server: ProgramServer>(
        _ type: Server.Type,
        configurationPath: String?,
        _ work: (Server) async throws -> Void
    ) async -> Never {
        let configuration = loadConfiguration(
            keys: type.configurationKeys,
            program: type.programName,
            path: configurationPath
        )
        let log = ServiceLog.bootstrap(label: type.programName, configuration: configuration)
        for warning in configuration.warnings {
            log.logger.warning(
                "configuration",
                metadata: ["key": .string(warning.key), "problem": .string(warning.problem)]
            )
        }
        do {
            try await work(try type.init(configuration: configuration))
        } catch {
            log.sink.flush()
            let address = listenKey(of: type).map { configuration[$0] }
            end(
                ListenFault(error, program: type.programName, address: address) ?? error,
                program: type.programName
            )
        }
        log.sink.flush()
        end(nil, code: 0)
    }

    private static func listenAddress<Server: ProgramServer>(
        of type: Server.Type,
        configurationPath: String?
    ) -> HostPort {
        guard let key = listenKey(of: type) else { preconditionFailure("\(type) declares no address") }
        do {
            let configuration = try Configuration.load(
                only: [key],
                path: configurationPath,
                environment: ProcessInfo.processInfo.environment
            )
            return configuration[key].reachable
        } catch {
            end(error, program: type.programName)
        }
    }

    private static func listenKey<Server: ProgramServer>(of type: Server.Type) -> ConfigurationKey<HostPort>? {
        let name = "\(ConfigurationNames.prefix)\(type.programName.uppercased())_LISTEN"
        return type.configurationKeys.lazy.compactMap { $0 as? ConfigurationKey<HostPort> }.first { $0.name == name }
    }

    private static func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: "; ")
    }
}

extension HostPort {
    /// The address to connect to when a server listens on this one: loopback for "every interface".
    public var reachable: HostPort {
        switch host {
        case "0.0.0.0": HostPort(host: "127.0.0.1", port: port)
        case "::": HostPort(host: "::1", port: port)
        default: self
        }
    }
}
