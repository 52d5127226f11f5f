import RPCTransport

/// Checks the files of TLS before anything is opened, so that all faults are reported at once, by key.
enum TLSFiles {
    /// What is wrong with a certificate and its private key.
    static func pairFaults(
        _ certificate: ConfigurationKey<String?>,
        _ key: ConfigurationKey<String?>,
        _ configuration: Configuration
    ) -> [ConfigurationError] {
        switch (configuration[certificate], configuration[key]) {
        case (nil, nil): return []
        case (.some, nil): return [.needs(certificate, key)]
        case (nil, .some): return [.needs(key, certificate)]
        case (.some(let chain), .some(let privateKey)):
            if let fault = fault(certificate, TLSConfiguration(certificateChainFile: chain)) { return [fault] }
            let pair = TLSConfiguration(certificateChainFile: chain, privateKeyFile: privateKey)
            return [fault(key, pair)].compactMap(\.self)
        }
    }

    /// What is wrong with a file of authorities.
    static func authorityFaults(
        _ authorities: ConfigurationKey<String?>,
        _ configuration: Configuration
    ) -> [ConfigurationError] {
        guard let file = configuration[authorities] else { return [] }
        return [fault(authorities, TLSConfiguration(authoritiesFile: file))].compactMap(\.self)
    }

    private static func fault(_ key: ConfigurationKey<String?>, _ files: TLSConfiguration) -> ConfigurationError? {
        let paths = [files.certificateChainFile, files.privateKeyFile, files.authoritiesFile].compactMap(\.self)
        if let pipe = paths.first(where: FileBytes.isPipe) {
            let problem = "names \(pipe), which is a pipe: it must be a file, since it is read more than once"
            return ConfigurationError(key: key.name, problem: problem)
        }
        do {
            try files.check()
            return nil
        } catch {
            return ConfigurationError(key: key.name, problem: "cannot be used: \(error)")
        }
    }
}

extension ConfigurationError {
    /// A key was given without another one that it makes no sense without.
    static func needs<Given, Missing>(
        _ given: ConfigurationKey<Given>,
        _ missing: ConfigurationKey<Missing>
    ) -> ConfigurationError {
        ConfigurationError(key: given.name, problem: "needs \(missing.name) too")
    }
}
