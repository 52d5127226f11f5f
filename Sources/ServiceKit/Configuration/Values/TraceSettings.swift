import OTLP
import RPC
import RPCTransport

extension TraceKeys {
    /// Where the collector is if traces are on and nothing says it.
    private static let endpointDefault = "http://localhost:4317"

    /// Where and how a program sends its traces; nil where they are off.
    public static func settings(_ configuration: Configuration, program: String) -> OTLPConfiguration? {
        guard isOn(configuration), let collector = CollectorEndpoint(endpointText(configuration)) else { return nil }
        var settings = OTLPConfiguration(target: collector.target, serviceName: "vestibule-\(program)")
        if collector.isEncrypted {
            settings.tls = TLSConfiguration(
                certificateChainFile: configuration[certificate],
                privateKeyFile: configuration[key],
                authoritiesFile: configuration[authorities]
            )
        }
        if let secret = configuration[headers], let pairs = KeyValueList.parse(secret.text) {
            for (name, value) in pairs { settings.headers.add(name.lowercased(), value) }
        }
        settings.attemptTimeout = .milliseconds(configuration[timeout])
        settings.compresses = configuration[compression] == .gzip
        settings.queueSpansMax = configuration[queueSpansMax]
        settings.scheduleDelay = .milliseconds(configuration[scheduleDelay])
        settings.batchSpansMax = configuration[batchSpansMax]
        settings.exportTimeout = .milliseconds(configuration[exportTimeout])
        settings.sampler = sampler(configuration)
        settings.resource.merge(sdkResource) { _, ours in ours }
        settings.resource.merge(configuration[resource]) { _, given in given }
        if let name = configuration[serviceName] { settings.resource["service.name"] = name }
        return settings
    }

    /// What is wrong beyond the values of single keys. Reads the files of TLS.
    public static func faults(_ configuration: Configuration) -> [ConfigurationError] {
        guard isOn(configuration) else { return [] }
        var faults: [ConfigurationError] = []
        let collector = CollectorEndpoint(endpointText(configuration))
        if collector == nil {
            let name = configuration[tracesEndpoint] == nil ? endpoint.name : tracesEndpoint.name
            faults.append(
                ConfigurationError(
                    key: name,
                    problem: "must be scheme, host and port alone, such as http://localhost:4317"
                )
            )
        }
        if configuration[batchSpansMax] > configuration[queueSpansMax] {
            faults.append(
                ConfigurationError(key: batchSpansMax.name, problem: "must not be more than \(queueSpansMax.name)")
            )
        }
        if let collector, !collector.isEncrypted {
            // One letter less in the endpoint must not turn TLS off in silence.
            for file in [authorities, certificate, key] where configuration[file] != nil {
                faults.append(
                    ConfigurationError(key: file.name, problem: "has no effect: the endpoint is not https://")
                )
            }
        }
        return faults + TLSFiles.authorityFaults(authorities, configuration)
            + TLSFiles.pairFaults(certificate, key, configuration)
    }

    private static func isOn(_ configuration: Configuration) -> Bool {
        guard !configuration[isDisabled] else { return false }
        switch configuration[exporter] {
        case .otlp: return true
        case .some(.none): return false
        case nil: return configuration[endpoint] != nil || configuration[tracesEndpoint] != nil
        }
    }

    private static func endpointText(_ configuration: Configuration) -> String {
        configuration[tracesEndpoint] ?? configuration[endpoint] ?? endpointDefault
    }

    private static func sampler(_ configuration: Configuration) -> TraceSampler {
        let ratio = TraceSampler.ratio(configuration[samplerArgument])
        return switch configuration[sampler] {
        case .alwaysOn: .alwaysOn
        case .alwaysOff: .alwaysOff
        case .ratio: ratio
        case .parentBasedAlwaysOn: .parentBased(.alwaysOn)
        case .parentBasedAlwaysOff: .parentBased(.alwaysOff)
        case .parentBasedRatio: .parentBased(ratio)
        }
    }

    /// What made the spans (semantic conventions, "Telemetry SDK").
    private static let sdkResource = ["telemetry.sdk.name": "vestibule", "telemetry.sdk.language": "swift"]
}

/// The collector's part of a URL: OTLP by gRPC has no path.
struct CollectorEndpoint {
    /// `host:port`.
    let target: String
    let isEncrypted: Bool

    private static let portDefault = 4317

    /// Reads `http://host`, `https://host:port` and the like.
    init?(_ text: String) {
        isEncrypted = text.hasPrefix("https://")
        guard isEncrypted || text.hasPrefix("http://") else { return nil }
        var authority = text.dropFirst(isEncrypted ? 8 : 7)
        if authority.last == "/" { authority.removeLast() }
        let hasPort = authority.last != "]" && authority.contains(":")
        let address = hasPort ? String(authority) : "\(authority):\(Self.portDefault)"
        guard HostPort(address) != nil, !authority.contains("/"), !authority.contains("?") else { return nil }
        target = address
    }
}

/// `name=value` with commas between, values percent-encoded (W3C Baggage, as OpenTelemetry's variables use it).
enum KeyValueList {
    /// Entries of a list.
    static let entriesMax = 64

    /// The entries, in order; nil if the text is no such list.
    static func parse(_ text: String) -> [(name: String, value: String)]? {
        var entries: [(name: String, value: String)] = []
        for part in text.split(separator: ",") where !part.trimmingSpaces.isEmpty {
            guard entries.count < entriesMax, let equals = part.firstIndex(of: "=") else { return nil }
            let name = part[..<equals].trimmingSpaces
            guard !name.isEmpty, let value = decode(part[part.index(after: equals)...].trimmingSpaces) else {
                return nil
            }
            entries.append((String(name), value))
        }
        return entries
    }

    private static func decode(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, let code = UInt8(String(Substring(digits)), radix: 16) else { return nil }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
