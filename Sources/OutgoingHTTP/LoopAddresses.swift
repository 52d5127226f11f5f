import RPCTransport

/// The addresses of hosts, as one loop knows them. Names are asked for away from the loop, one question a host at a time, and
/// the answers kept for a while. Loop thread.
final class LoopAddresses: @unchecked Sendable {
    // Sound because what changes is touched on the loop's thread only: the task that asks comes back by the loop's mailbox.

    /// How long an answer counts.
    static let lifetime: Duration = .seconds(60)
    /// The most hosts that are known; then all are forgotten and asked for anew.
    static let hostsMax = 256

    private struct Known {
        let addresses: [String]
        let untilNanoseconds: UInt64
    }
    private let loop: EventLoop
    private let resolver: any NameResolver
    private var known: [String: Known] = [:]
    /// Who waits for the answer, by host. Each is a request that is under way, of which the client has a maximum.
    private var waiting: [String: [([String]) -> Void]] = [:]

    init(loop: EventLoop, resolver: any NameResolver) {
        self.loop = loop
        self.resolver = resolver
    }

    /// Calls `use` once with the addresses of a name, at once if they are known: none if nobody knows any.
    func find(_ host: String, _ use: @escaping ([String]) -> Void) {
        loop.preconditionIsCurrent()
        if let known = known[host], known.untilNanoseconds > loop.nowNanoseconds { return use(known.addresses) }
        waiting[host, default: []].append(use)
        guard waiting[host]?.count == 1 else { return }
        Task { [resolver, loop] in
            // libcurl takes no address with a zone.
            let addresses = await resolver.addresses(of: host).filter { !$0.contains("%") }
            loop.execute { [self] in found(host, addresses) }
        }
    }

    private func found(_ host: String, _ addresses: [String]) {
        if known.count >= Self.hostsMax { known = [:] }
        if !addresses.isEmpty {
            let lifetime = UInt64(Self.lifetime / .nanoseconds(1))
            known[host] = Known(addresses: addresses, untilNanoseconds: loop.nowNanoseconds + lifetime)
        }
        for use in waiting.removeValue(forKey: host) ?? [] { use(addresses) }
    }

    /// Has a name asked for anew: what is known of it led nowhere.
    func forget(_ host: String) {
        loop.preconditionIsCurrent()
        known[host] = nil
    }
}
