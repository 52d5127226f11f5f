/// What the executables start: a program's assembly out of its parts.
public protocol ProgramServer: Sendable {
    /// The program's name, such as `identity`; its keys begin with `VESTIBULE_` and this name.
    static var programName: String { get }
    /// Every key that the program reads.
    static var configurationKeys: [any AnyConfigurationKey] { get }
    /// How the running program is asked whether it can be used; by gRPC if it doesn't say.
    static var healthQuestion: HealthQuestion { get }

    /// Reads what it needs from a checked configuration, without any I/O but of files that it names.
    ///
    /// - Throws: `ConfigurationErrors` for what is wrong across keys or inside a key's content.
    init(configuration: Configuration) throws

    /// Serves until SIGINT or SIGTERM, and returns after a graceful stop.
    func serve() async throws

    /// Looks at everything that a valid configuration names: files, certificates, names, ports, and what the program depends
    /// on. Reports each finding as it is found, and takes no longer than each step's time limit.
    static func examine(_ configuration: Configuration, report: (Finding) -> Void) async
}

extension ProgramServer {
    /// By gRPC, as services are asked.
    public static var healthQuestion: HealthQuestion { .grpc }

    /// What all programs have: files, names, ports and limits.
    public static func examine(_ configuration: Configuration, report: (Finding) -> Void) async {
        await examineCommonParts(configuration, report: report)
    }

    /// The same, for a program that looks at more.
    public static func examineCommonParts(_ configuration: Configuration, report: (Finding) -> Void) async {
        let examination = Examination(program: programName, keys: configurationKeys, configuration: configuration)
        await examination.run(report: report)
    }
}

/// A program with tables of its own.
public protocol MigratingServer: ProgramServer {
    /// Brings the tables up to date and returns.
    func migrate() async throws

    /// Says what `migrate` would do, and changes nothing.
    func migrationReport() async throws -> MigrationReport
}
