import ServiceKit

/// Whether strangers could reach a service's port: what keeps it from starting, or has to be said at each start.
struct Exposure {
    let keys: ServiceKeys
    let configuration: Configuration

    /// What keeps the service from listening at the configured address. Elsewhere than on loopback it must know who calls and
    /// what they may: tokens and proofs of people pass there, and methods for services have no other guard.
    var faults: [ConfigurationError] {
        guard !missing.isEmpty, !configuration[keys.insecure] else { return [] }
        return [
            ConfigurationError(
                key: keys.listen.name,
                problem: "is not on loopback, and so needs \(missing.joined(separator: ", ")); or "
                    + "\(keys.insecure.name)=true where something else keeps everybody out"
            )
        ]
    }

    /// What is allowed but logged as a warning at each start; nil if there is nothing to log.
    var warning: String? {
        guard !missing.isEmpty, configuration[keys.insecure] else { return nil }
        return
            "\(keys.listen.name) is not on loopback and lacks \(missing.joined(separator: ", ")): anyone who reaches the "
            + "port reads and changes everything (\(keys.insecure.name))"
    }

    /// The warning as the doctor reports it.
    var finding: Finding? {
        guard !missing.isEmpty, configuration[keys.insecure] else { return nil }
        return Finding(
            .warning,
            keys.insecure.name,
            "is true: anyone who reaches \(configuration[keys.listen]) reads and changes everything",
            mend: "give \(missing.joined(separator: ", ")) instead"
        )
    }

    /// The keys of what a port that others reach must have, and this one lacks.
    private var missing: [String] {
        guard !configuration[keys.listen].isLoopback else { return [] }
        var missing: [String] = []
        if configuration[keys.tls.certificate] == nil { missing.append(keys.tls.certificate.name) }
        if configuration[keys.tls.clientAuthorities] == nil { missing.append(keys.tls.clientAuthorities.name) }
        if configuration[keys.tls.allowList] == nil { missing.append(keys.tls.allowList.name) }
        return missing
    }
}
