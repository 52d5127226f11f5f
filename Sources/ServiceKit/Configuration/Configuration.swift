/// A program's whole configuration, read once at start and checked: every key has a valid value.
///
/// A value comes from the environment, else from the file, else from the key's default; an empty one counts as not given.
public struct Configuration: Sendable {
    private let values: [String: any Sendable]
    private let given: Set<String>
    /// The files that hold secrets, and folders of such, with the keys that name them.
    let secretFiles: [ConfiguredSecretFile]
    /// What somebody should mend, each a line to log once at start: keys by former names; and variables of the environment
    /// that look like keys and are none, since a misspelt one is left without effect. The latter are no faults, since
    /// whatever starts the program may put names of its own there.
    public let warnings: [ConfigurationError]

    /// Reads and checks all keys. Pure, but for the files that keys name.
    ///
    /// - Parameters:
    ///   - keys: the program's keys, each of which can then be asked for.
    ///   - program: the program's name, whose prefix in the file is its own.
    ///   - environment: the process's variables.
    ///   - file: the entries of the configuration file.
    ///   - readFile: reads the file of a secret.
    /// - Throws: all faults together.
    public init(
        keys: [any AnyConfigurationKey],
        program: String,
        environment: [String: String],
        file: [String: String] = [:],
        readFile: @escaping @Sendable (String, Int) throws(FileError) -> [UInt8] = {
            (path, bytesMax) throws(FileError) in try FileBytes.read(path, bytesMax: bytesMax)
        }
    ) throws(ConfigurationErrors) {
        let input = ConfigurationInput(
            text: { name in
                [environment[name], file[name]].lazy.compactMap { $0 }.first { !$0.trimmingSpaces.isEmpty }
            },
            readFile: readFile
        )
        var values: [String: any Sendable] = [:]
        var faults: [ConfigurationError] = []
        var known: Set = [ConfigurationNames.file]
        for key in keys {
            precondition(known.insert(key.name).inserted, "\(key.name) is declared twice")
            if key.takesFile { known.insert(key.name + ConfigurationNames.fileSuffix) }
            known.formUnion(key.formerNames)
            do throws(ConfigurationProblem) {
                values[key.name] = try key.resolve(input)
            } catch {
                faults.append(ConfigurationError(key: key.name, problem: error.text))
            }
        }
        let unknown = UnknownKeys(program: program, known: known)
        faults += file.keys.sorted().compactMap(unknown.fault(inFile:))
        guard faults.isEmpty else { throw ConfigurationErrors(faults) }
        self.values = values
        secretFiles = keys.flatMap { key -> [ConfiguredSecretFile] in
            let names = (key.kind == "secret" ? [key.name + ConfigurationNames.fileSuffix] : []) + [key.name]
            return names.compactMap { name in
                guard ConfiguredSecretFile.isNamed(by: name, kind: key.kind), let path = input.text(name) else {
                    return nil
                }
                return ConfiguredSecretFile(key: name, path: path)
            }
        }
        let renamed = keys.flatMap { key in
            key.formerNames.filter { input.text($0) != nil }.map {
                ConfigurationError(key: $0, problem: "is a former name: call it \(key.name)")
            }
        }
        warnings =
            renamed
            + environment.sorted { $0.key < $1.key }.compactMap { name, value in
                value.trimmingSpaces.isEmpty ? nil : unknown.fault(inEnvironment: name, value: value)
            }
        given = Set(environment.keys).union(file.keys).filter { input.text($0) != nil }
    }

    /// Reads the configuration of a process: its environment, and the file if one is named.
    ///
    /// - Parameters:
    ///   - keys: the program's keys.
    ///   - program: the program's name.
    ///   - path: the file's path as `--config` gave it; without it VESTIBULE_CONFIG counts.
    ///   - environment: the process's variables.
    public static func load(
        keys: [any AnyConfigurationKey],
        program: String,
        path: String?,
        environment: [String: String]
    ) throws(ConfigurationErrors) -> Configuration {
        let (entries, faults) = try entries(path: path, environment: environment)
        let configuration: Configuration
        do throws(ConfigurationErrors) {
            configuration = try Configuration(keys: keys, program: program, environment: environment, file: entries)
        } catch {
            throw ConfigurationErrors(faults + error.faults)
        }
        guard faults.isEmpty else { throw ConfigurationErrors(faults) }
        return configuration
    }

    /// Reads the values of some keys and looks at no other: for commands that need a part of a program's configuration.
    ///
    /// - Parameter readFile: reads the files that keys name; not the configuration file.
    public static func load(
        only keys: [any AnyConfigurationKey],
        path: String?,
        environment: [String: String],
        readFile: @escaping @Sendable (String, Int) throws(FileError) -> [UInt8] = {
            (path, bytesMax) throws(FileError) in try FileBytes.read(path, bytesMax: bytesMax)
        }
    ) throws(ConfigurationErrors) -> Configuration {
        let (entries, _) = try entries(path: path, environment: environment)
        let names = Set(
            keys.flatMap { key in
                [key.name] + key.formerNames + (key.takesFile ? [key.name + ConfigurationNames.fileSuffix] : [])
            }
        )
        return try Configuration(
            keys: keys,
            program: "",
            environment: environment.filter { names.contains($0.key) },
            file: entries.filter { names.contains($0.key) },
            readFile: readFile
        )
    }

    /// The entries of the file that is named by the path, or else by the environment; none if neither names one.
    public static func entries(
        path: String?,
        environment: [String: String]
    ) throws(ConfigurationErrors) -> (entries: [String: String], faults: [ConfigurationError]) {
        guard let path = path ?? environment[ConfigurationNames.file], !path.isEmpty else { return ([:], []) }
        let bytes: [UInt8]
        do {
            bytes = try FileBytes.read(path, bytesMax: ConfigurationFile.bytesMax)
        } catch {
            throw ConfigurationErrors([ConfigurationError(key: path, problem: error.description)])
        }
        return ConfigurationFile.parse(String(decoding: bytes, as: UTF8.self), name: path)
    }

    /// A configuration for tests: these values, and the defaults.
    public static func testing(
        keys: [any AnyConfigurationKey],
        program: String,
        _ values: [String: String] = [:]
    ) throws(ConfigurationErrors) -> Configuration {
        try Configuration(keys: keys, program: program, environment: values)
    }

    /// Whether environment or file give a value of that name, declared here or not.
    public func isGiven(_ name: String) -> Bool { given.contains(name) }

    /// The value of a key, which must be among those that the configuration was read with.
    public subscript<Value>(key: ConfigurationKey<Value>) -> Value {
        guard let box = values[key.name] as? ConfigurationValue<Value> else {
            preconditionFailure("\(key.name) is not among the keys that were read")
        }
        return box.value
    }
}
