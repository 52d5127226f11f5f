import ServiceKit

/// The hosts that may be put under load: this machine, and explicitly allowed ones. So a mistake in a configuration file can't
/// put another party's server under load.
public struct AllowedHosts: Sendable {
    private let named: Set<String>

    /// This machine and the given hosts, without ports.
    public init(named: [String]) { self.named = Set(named.map { $0.lowercased() }) }

    /// Whether a host is allowed. A name that only resolves to this machine isn't, since that may change.
    public func allows(_ host: String) -> Bool { Self.isLoopback(host) || named.contains(host.lowercased()) }

    /// Whether an address or name is this machine: 127.0.0.0/8, ::1 and localhost (RFC 6761 section 6.3).
    static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let isV4 = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil && $0.utf8.allSatisfy { 48...57 ~= $0 } }
        return isV4 && parts[0] == "127" || host == "::1" || host.lowercased() == "localhost"
    }

    /// The hosts of a plan that are not allowed.
    public func refused(by plan: LoadPlan) -> [String] {
        var hosts = [Self.host(ofURL: plan.simulatorURL)]
        switch plan.target {
        case .grpc(let identity, let profile, _, _):
            hosts += (identity.addresses + profile.addresses).map { Optional($0.host) }
        case .edge(let url): hosts.append(Self.host(ofURL: url))
        }
        var seen: Set<String> = []
        return hosts.map { $0 ?? "" }.filter { !allows($0) && seen.insert($0).inserted }
    }

    /// The host of `http://host:port` or `https://host`; nil for any other text, for example with a path, or a user.
    public static func host(ofURL url: String) -> String? {
        let lowered = url.lowercased()
        guard let scheme = ["http://", "https://"].first(where: lowered.hasPrefix) else { return nil }
        let rest = String(url.dropFirst(scheme.count))
        if let address = HostPort(rest) { return address.host }
        return HostPort("\(rest):1")?.host
    }
}
