import Glibc
import RPC
import RPCTransport
import Synchronization

/// Where a client's servers are. Names are looked up away from the loops, one question at a time for each name, however
/// long it takes; a name keeps its last addresses for as long as there are no new ones. Any thread.
final class ServerAddresses: Sendable {
    /// A server as libpq takes it: the host, which certificates are held against, and its address.
    struct Server: Sendable, Hashable {
        let host: String
        /// Empty for the folder of a socket.
        let address: String
    }

    /// Addresses of one name that are tried.
    static let addressesMax = 8

    private struct Name {
        var addresses: [String] = []
        var isAsked = false
    }

    private struct State {
        var names: [String: Name] = [:]
        var waiting: [UInt64: @Sendable () -> Void] = [:]
        var lastNumber: UInt64 = 0
    }

    private let hosts: [String]
    private let resolver: any NameResolver
    private let state: Mutex<State>

    init(hosts: [String], resolver: any NameResolver) {
        self.hosts = hosts
        self.resolver = resolver
        var names: [String: Name] = [:]
        for host in hosts where Self.isName(host) { names[host] = Name() }
        state = Mutex(State(names: names))
        hasNames = !names.isEmpty
    }

    /// Whether there is anything to look up.
    let hasNames: Bool

    /// The servers that are known now, in the order of the configuration.
    var servers: [Server] {
        let names = state.withLock { $0.names }
        return hosts.flatMap { host -> [Server] in
            if let name = names[host] { return name.addresses.map { Server(host: host, address: $0) } }
            return [Server(host: host, address: Self.isFolder(host) ? "" : host)]
        }
    }

    /// Looks all names up again, those that are being looked up already excepted, and calls back once when every name
    /// has had its answer, on any thread. The number is for `forget`, which each caller calls, so that a
    /// resolver that never answers gathers no callers.
    func ask(_ answered: @escaping @Sendable () -> Void) -> UInt64 {
        let (number, names) = state.withLock { state in
            state.lastNumber += 1
            state.waiting[state.lastNumber] = answered
            let names = state.names.filter { !$0.value.isAsked }.map(\.key)
            for name in names { state.names[name]?.isAsked = true }
            return (state.lastNumber, names)
        }
        for name in names {
            Task { [resolver] in
                let addresses = await resolver.addresses(of: name)
                took(addresses, of: name)
            }
        }
        return number
    }

    /// Drops the callback with that number, if it wasn't called yet.
    func forget(_ number: UInt64) { state.withLock { $0.waiting[number] = nil } }

    private func took(_ addresses: [String], of name: String) {
        let answered = state.withLock { state -> [@Sendable () -> Void] in
            state.names[name]?.isAsked = false
            if !addresses.isEmpty { state.names[name]?.addresses = Array(addresses.prefix(Self.addressesMax)) }
            guard !state.names.values.contains(where: \.isAsked) else { return [] }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for callback in answered { callback() }
    }

    private static func isName(_ host: String) -> Bool {
        var address = in_addr()
        return !isFolder(host) && !host.contains(":") && inet_pton(AF_INET, host, &address) != 1
    }

    /// Also a socket in the abstract namespace, as libpq takes it.
    private static func isFolder(_ host: String) -> Bool { host.hasPrefix("/") || host.hasPrefix("@") }
}
