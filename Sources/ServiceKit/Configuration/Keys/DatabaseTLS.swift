/// How connections to PostgreSQL by TCP are secured, as the configuration says it.
public enum DatabaseTLS: String, CaseIterable, Sendable {
    /// `verify-full`, but `prefer` where no connection leaves the machine.
    case auto
    /// Never encrypted.
    case disable
    /// Encrypted if the server offers it.
    case prefer
    /// Encrypted, whatever the server's certificate.
    case require
    /// Encrypted, and the server proves its name by a certificate.
    case verifyFull = "verify-full"
}

extension Configuration {
    /// What is wrong with these keys and the file that they name now. Reads the file.
    public var databaseTLSFaults: [ConfigurationError] {
        let faults = TLSFiles.authorityFaults(SharedKeys.databaseAuthorities, self)
        guard self[SharedKeys.databaseAuthorities] != nil else { return faults }
        switch self[SharedKeys.databaseTLS] {
        case .auto, .verifyFull: return faults
        case .disable, .prefer, .require:
            let key = SharedKeys.databaseAuthorities.name
            return faults + [
                ConfigurationError(key: key, problem: "is used only if \(SharedKeys.databaseTLS.name) is verify-full")
            ]
        }
    }
}
