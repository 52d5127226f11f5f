import RPCTransport

/// A loop's cache of hosts' addresses. Names are resolved outside the loop, with one look-up per host at a time, and the results
/// are cached for some time. Loop thread.
final class LoopAddresses: @unchecked Sendable {
    // Safe because the variables are used only on the loop's thread: the look-up's task returns through the loop's mailbox.

    /// How long a result is valid.
    static let lifetime: Duration = .seconds(60)
    /// The maximum of cached hosts, after which the cache is cleared; and the maximum of concurrent look-ups.
    static let hostsMax = 256

    private struct Known {
        let addresses: [String]
        let untilNanoseconds: UInt64
    }
    private let loop: EventLoop
    private let resolver: any NameResolver
    private var known: [String: Known] = [:]
    private var asked: Set<String> = []
    /// Called on the loop with each result: the host and its addresses, or none if it has no address.
    var onAnswer: (String, [String]) -> Void = { _, _ in }

    init(loop: EventLoop, resolver: any NameResolver) {
        self.loop = loop
        self.resolver = resolver
    }

    /// The addresses of a name, if they are cached.
    func known(_ host: String) -> [String]? {
        loop.preconditionIsCurrent()
        guard let known = known[host], known.untilNanoseconds > loop.nowNanoseconds else { return nil }
        return known.addresses
    }

    /// Resolves a name, unless a look-up is running; `onAnswer` gets the result. False if there are too many look-ups.
    func ask(_ host: String) -> Bool {
        loop.preconditionIsCurrent()
        guard !asked.contains(host) else { return true }
        guard asked.count < Self.hostsMax else { return false }
        asked.insert(host)
        Task { [resolver, loop] in
            // libcurl doesn't accept addresses with a zone.
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

    /// Removes a name from the cache, since its addresses could not be reached.
    func forget(_ host: String) {
        loop.preconditionIsCurrent()
        known[host] = nil
    }
}
