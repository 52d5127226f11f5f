import Certificates
import Glibc

extension ServerTLSKeys {
    /// What is wrong with the certificate that the port presents, though its files can be used.
    ///
    /// - Parameters:
    ///   - authorities: the key of the authorities that callers trust; of a port for everybody, those of the system if it is not given.
    ///   - isForEverybody: whether apps reach the port, by a public authority.
    public func findings(
        _ configuration: Configuration,
        authorities: ConfigurationKey<String?>,
        isForEverybody: Bool = false
    ) -> [Finding] {
        guard let path = configuration[certificate] else { return [] }
        let examined = ExaminedCertificate(key: certificate.name, path: path, now: time(nil))
        let trusted = configuration[authorities]
        // Services whose callers don't say whom they trust: nobody knows.
        guard trusted != nil || isForEverybody else { return examined.endFindings }
        return examined.endFindings
            + examined.chainFindings(
                authorities: trusted,
                authoritiesKey: authorities.name,
                name: configuration[name],
                nameKey: name.name,
                severity: isForEverybody ? .warning : .failure
            )
    }
}

extension ChannelKeys {
    /// What is wrong with the certificate that is shown to services, though its files can be used.
    public func findings(_ configuration: Configuration) -> [Finding] {
        guard let path = configuration[certificate] else { return [] }
        return ExaminedCertificate(key: certificate.name, path: path, now: time(nil)).endFindings
    }
}

/// A file of a certificate with its intermediates.
struct ExaminedCertificate {
    let key: String
    let path: String
    /// In seconds since 1970.
    let now: Int

    private static let bytesMax = 65_536
    private static let daysMin = 7

    private var chain: CertificateChain? {
        (try? FileBytes.read(path, bytesMax: Self.bytesMax)).flatMap { try? CertificateChain(pem: $0) }
    }

    /// Whether it ends soon. A file that can't be read is a fault of the configuration already.
    var endFindings: [Finding] {
        guard let end = try? chain?.end else { return [] }
        return [Self.endFinding(key, path, secondsLeft: end - now)].compactMap(\.self)
    }

    static func endFinding(_ key: String, _ path: String, secondsLeft: Int) -> Finding? {
        let mend = "renew it: `make renew` for those of `vestibule init`"
        if secondsLeft <= 0 { return Finding(.failure, key, "names \(path), a certificate that has ended", mend: mend) }
        let days = secondsLeft / 86_400
        guard days < daysMin else { return nil }
        return Finding(.warning, key, "names \(path), a certificate that ends in \(days) days", mend: mend)
    }

    /// Whether clients accept it.
    func chainFindings(
        authorities: String?,
        authoritiesKey: String,
        name: String,
        nameKey: String,
        severity: Finding.Severity
    ) -> [Finding] {
        let trusted = authorities.map { (try? FileBytes.read($0, bytesMax: Self.bytesMax)) ?? [] }
        guard let chain else { return [] }
        // One that has ended is reported as such, so it is checked as of its last hour.
        let time = min(now, ((try? chain.end) ?? now) - 3600)
        var findings: [Finding] = []
        if let problem = try? chain.problem(authorities: trusted, name: nil, now: time) {
            let whose = authorities == nil ? "the system's authorities" : authoritiesKey
            findings.append(
                Finding(
                    severity,
                    key,
                    "names \(path), which clients that trust \(whose) reject: \(problem)",
                    mend: "put its intermediates behind it in the file, or name its authority in \(authoritiesKey)"
                )
            )
        } else if (try? chain.problem(authorities: trusted, name: name, now: time)) != nil {
            findings.append(
                Finding(
                    severity,
                    nameKey,
                    "is \(name), which is no name of the certificate \(path)",
                    mend: "name one that it has; callers must use it, too"
                )
            )
        }
        return findings
    }
}
