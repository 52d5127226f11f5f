import ArgumentParser

/// Where the configuration file is.
public struct ConfigurationFileOption: ParsableArguments {
    /// The file; nil to go by VESTIBULE_CONFIG.
    @Option(name: .customLong("config"), help: "A file with lines of KEY=VALUE.")
    public var path: String?

    /// No file yet: ArgumentParser sets it.
    public init() {}
}
