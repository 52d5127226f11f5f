#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Whom a rate limit counts as one: an IPv4 address, or the /64 of an IPv6 address, which one subscriber has.
enum ClientAddress: Hashable, Sendable {
    case v4([UInt8])
    case v6(prefix: [UInt8])
    /// Connections without an address: unix sockets, tests.
    case none

    /// Reads an address in numbers; nil if the text is none.
    init?(_ text: some StringProtocol) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, String(text), &v4) == 1 {
            self = .v4(withUnsafeBytes(of: v4, Array.init))
        } else if inet_pton(AF_INET6, String(text), &v6) == 1 {
            let bytes = withUnsafeBytes(of: v6, Array.init)
            // ::ffff:a.b.c.d, as a socket for both families sees IPv4 (RFC 4291 section 2.5.5.2).
            let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10..<12].elementsEqual([0xff, 0xff])
            self = isMapped ? .v4(Array(bytes[12...])) : .v6(prefix: Array(bytes[..<8]))
        } else {
            return nil
        }
    }

    /// The client of a request, which may have come through proxies of ours.
    ///
    /// - Parameters:
    ///   - peer: the other end of the connection; nil if it has no address.
    ///   - forwarded: X-Forwarded-For, to which each proxy appended the address it was called from.
    ///   - proxyCount: how many proxies of ours there are; what stands further left could be anyone's words.
    init(peer: String?, forwarded: String?, proxyCount: Int) {
        let hops = forwarded.map { $0.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } } } ?? []
        if proxyCount > 0, hops.count >= proxyCount, let address = Self(hops[hops.count - proxyCount]) {
            self = address
        } else {
            self = peer.flatMap { Self($0) } ?? .none
        }
    }
}
