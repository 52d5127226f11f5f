import RPCTransport

/// The addresses of hosts, as one loop knows them. Names are asked for away from the loop, one question a host at a time, and
/// the answers kept for a while. Loop thread.
final class LoopAddresses: @unchecked Sendable {
    // Sound because what changes is touched on the loop's thread only: the task that asks comes back by the loop's mailbox.

    /// How long an answer counts.
    static let lifetime: Duration = .seconds(60)
    /// The most hosts that are known, then all are forgotten and asked for anew; and the most that are asked for at once.
    static let hostsMax = 256

    private struct Known {
        let addresses: [String]
        let untilNanoseconds: UInt64
    }
    private let loop: EventLoop
    private let resolver: any NameResolver
    private var known: [String: Known] = [:]
    private var asked: Set<String> = []
    /// Told of each answer, on the loop: the host and its addresses, none if nobody knows any.
    var onAnswer: (String, [String]) -> Void = { _, _ in }

    init(loop: EventLoop, resolver: any NameResolver) {
        self.loop = loop
        self.resolver = resolver
    }

    /// The addresses of a name, if they are known.
    func known(_ host: String) -> [String]? {
        loop.preconditionIsCurrent()
        guard let known = known[host], known.untilNanoseconds > loop.nowNanoseconds else { return nil }
        return known.addresses
    }

    /// Asks for a name, unless that is done already; `onAnswer` tells. False if too many are asked for.
    func ask(_ host: String) -> Bool {
        loop.preconditionIsCurrent()
        guard !asked.contains(host) else { return true }
        guard asked.count < Self.hostsMax else { return false }
        asked.insert(host)
        Task { [resolver, loop] in
            // libcurl takes no address with a zone.
            let addresses = await resolver.addresses(of: host).filter { !$0.contains("%") }
            loop.execute { [self] in answered(host, addresses) }
        }
        return true
    }

    private func answered(_ host: String, _ addresses: [String]) {
        asked.remove(host)
        if known.count >= Self.hostsMax { known = [:] }
        if !addresses.isEmpty {
            let lifetime = UInt64(Self.lifetime / .nanoseconds(1))
            known[host] = Known(addresses: addresses, untilNanoseconds: loop.nowNanoseconds + lifetime)
        }
        onAnswer(host, addresses)
    }

    /// Has a name asked for anew: what is known of it led nowhere.
    func forget(_ host: String) {
        loop.preconditionIsCurrent()
        known[host] = nil
    }
}
