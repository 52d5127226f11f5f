import Certificates
import FoundationEssentials
import Glibc
import RPCTransport

/// What the doctor looks at in each program: files, names, ports and limits that its configuration names.
struct Examination {
    let program: String
    let keys: [any AnyConfigurationKey]
    let configuration: Configuration

    /// Everything, with each finding as it is found.
    func run(report: (Finding) -> Void) async {
        let warnings = configuration.warnings.map { Finding($0, .warning) }
        for finding in warnings + secretFiles + folders + ports { report(finding) }
        for finding in await names { report(finding) }
    }

    /// The rights of files with secrets.
    private var secretFiles: [Finding] {
        configuration.secretFiles.flatMap { file -> [Finding] in
            let inFolder = (try? FileBytes.names(inFolder: file.path))?.filter { $0.hasSuffix(".json") }
            let paths = inFolder?.map { "\(file.path)/\($0)" } ?? [file.path]
            return paths.compactMap { FileRights(path: $0)?.finding(file.key, $0) }
        }
    }

    /// The folder of crash reports, which must not keep a program from serving and so is only logged at its start.
    private var folders: [Finding] {
        guard keys.contains(where: { $0.name == Crashes.folder.name }), let folder = configuration[Crashes.folder]
        else {
            return []
        }
        let key = Crashes.folder.name
        guard access(folder, W_OK | X_OK) == 0 else {
            let problem = "names \(folder), which can't be written: \(String(cString: strerror(errno)))"
            return [Finding(.warning, key, problem, mend: "make it, and \(program)'s user its owner")]
        }
        return [DiskSpace(folder: folder)?.finding(key, folder)].compactMap(\.self)
    }

    /// Whether it could listen, or does.
    private var ports: [Finding] {
        let required = keys.compactMap { $0 as? ConfigurationKey<HostPort> }.map { ($0.name, configuration[$0]) }
        let optional = keys.compactMap { $0 as? ConfigurationKey<HostPort?> }.compactMap { key in
            configuration[key].map { (key.name, $0) }
        }
        return (required + optional).compactMap { key, address in
            address.port == 0 ? nil : finding(key, address, ListenTrial(address))
        }
    }

    private func finding(_ key: String, _ address: HostPort, _ trial: ListenTrial) -> Finding? {
        switch trial {
        case .free: return nil
        case .taken(let holder):
            // The program itself, which runs.
            if let holder, holder.hasPrefix("\(program) (") || holder.hasPrefix("vestibule-progr (") { return nil }
            if holder == nil, isRunning { return nil }
            let who = holder ?? "a process of another user"
            return Finding(
                .failure,
                key,
                "is \(address), where \(who) listens already",
                mend: "end that process, or name another address"
            )
        case .refused(let code):
            // A name of this machine may be another container's while that one runs.
            if code == EADDRNOTAVAIL, IPAddress(address.host) == nil { return nil }
            let mend = code == EADDRNOTAVAIL ? "name an address of this machine" : "name another address"
            return Finding(
                .failure,
                key,
                "is \(address), which can't be had: \(String(cString: strerror(code)))",
                mend: mend
            )
        case .noHost:
            return Finding(
                .failure,
                key,
                "is \(address), and that host has no address",
                mend: "name an address of this machine"
            )
        }
    }

    /// Whether this program serves its metrics.
    private var isRunning: Bool {
        let key = SharedKeys.metricsListen(program: program)
        guard keys.contains(where: { $0.name == key.name }), let address = configuration[key] else { return false }
        let text = HTTPProbe.body(
            address: address.reachable,
            path: "/metrics",
            timeoutMilliseconds: 1000,
            bytesMax: 8 << 20
        )
        return text.map { MetricsReading(text: $0).all("vestibule_build_info").first?.labels["program"] == program }
            ?? false
    }

    /// Whether the names of other services have addresses.
    private var names: [Finding] {
        get async {
            let resolver = SystemNameResolver()
            var findings: [Finding] = []
            for key in keys.compactMap({ $0 as? ConfigurationKey<AddressList> }) {
                for address in configuration[key].addresses where IPAddress(address.host) == nil {
                    guard await resolver.addresses(of: address.host).isEmpty else { continue }
                    findings.append(
                        Finding(
                            .failure,
                            key.name,
                            "is \(address), and that host has no address",
                            mend: "start what has that name, or name another"
                        )
                    )
                }
            }
            return findings
        }
    }
}

extension ServerConfiguration {
    /// What the limit of open files leaves of the connections that are configured.
    ///
    /// - Parameter key: the key of how many they are.
    public func fileLimitFinding(_ key: String, loopCount: Int) -> Finding? {
        let mend = "raise it (ulimit -n, LimitNOFILE of systemd, ulimits of Compose), or lower \(key)"
        do {
            let allowed = try connectionsAllowed(loopCount: loopCount)
            guard allowed < connectionsMax else { return nil }
            let problem = "is \(connectionsMax), but the limit of open files leaves \(allowed)"
            return Finding(.warning, key, problem, mend: mend)
        } catch {
            return Finding(.failure, key, "can't be had: \(error)", mend: mend)
        }
    }
}
