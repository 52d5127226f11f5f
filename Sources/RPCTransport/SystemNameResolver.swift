import Glibc

/// Asks the system (`getaddrinfo`), in the order of RFC 6724. As that blocks, for half a minute where no name server
/// answers, it happens on threads that do nothing else, a few in all (`LookUps`).
public struct SystemNameResolver: NameResolver {
    /// Addresses taken of one answer.
    static let addressesMax = 64

    private static let lookUps = LookUps(threadsMax: 8, hostsMax: 256) { lookUp($0, flags: 0) }

    /// The system's resolver.
    public init() {}

    /// The host's addresses; see `NameResolver`.
    public func addresses(of host: String) async -> [String] {
        await Self.lookUps.addresses(of: host)
    }

    /// A host that is an address in digits, as the system writes it; nil for a name. Does not block.
    static func address(inDigits host: String) -> String? { lookUp(host, flags: AI_NUMERICHOST).first }

    private static func lookUp(_ host: String, flags: Int32) -> [String] {
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [String] = []
        var entry = list
        while let current = entry, addresses.count < addressesMax {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let failure = getnameinfo(
                current.pointee.ai_addr,
                current.pointee.ai_addrlen,
                &text,
                socklen_t(text.count),
                nil,
                0,
                NI_NUMERICHOST
            )
            if failure == 0 {
                addresses.append(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
            }
            entry = current.pointee.ai_next
        }
        return addresses
    }
}
