import Dispatch

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Finds the addresses of a host.
enum NameResolver {
    /// Addresses taken of one answer.
    static let addressesMax = 64

    /// The host's addresses in digits, in the system's order (RFC 6724); empty if there are none. Addresses in digits
    /// are returned at once; names are asked for on another thread, since the system's resolver blocks.
    static func resolve(_ host: String, then completion: @escaping @Sendable ([String]) -> Void) {
        let literal = lookUp(host, flags: AI_NUMERICHOST)
        if !literal.isEmpty { return completion(literal) }
        DispatchQueue.global().async { completion(lookUp(host, flags: 0)) }
    }

    private static func lookUp(_ host: String, flags: Int32) -> [String] {
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
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
