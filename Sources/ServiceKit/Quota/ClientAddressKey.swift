import Glibc
import JOSE
import RPC

/// Turns the address of a client, as the gateway tells it, into what may be stored: its code under a key of the deployment
/// (HMAC with SHA-256, RFC 2104). Addresses are personal data and few enough to try them all, so a plain hash would hide
/// nothing.
public struct ClientAddressKey: Sendable {
    /// The metadata in which the gateway tells the address.
    public static let metadataName = "vestibule-client-address"
    /// Bytes of a key.
    public static let byteCount = 32

    /// Bytes of an IPv6 address that a site's addresses have in common: more than IPv4's, and fewer than ``network(_:)`` has of IPv6.
    private static let siteByteCount = 6

    /// The key, which the services that limit by address share.
    public static let key = ConfigurationKey<Secret>.secretFile(
        "VESTIBULE_ADDRESS_KEY_FILE",
        help:
            "\(byteCount) random bytes, the key of the hashes by which limits count client addresses. With another key the "
            + "counts start again.",
        bytesMax: byteCount
    )

    private let key: [UInt8]
    private let purpose: [UInt8]
    private let numberPurpose: [UInt8]

    /// A key for one service, whose codes mean nothing to another.
    public init(_ secret: Secret, service: String) {
        key = secret.bytes
        purpose = Array("vestibule client address \(service)\0".utf8)
        numberPurpose = Array("vestibule asked number \(service)\0".utf8)
    }

    /// The key of a configuration.
    ///
    /// - Throws: `ConfigurationErrors` if it hasn't as many bytes as it must.
    public init(_ configuration: Configuration, service: String) throws(ConfigurationErrors) {
        let secret = configuration[Self.key]
        guard secret.bytes.count == Self.byteCount else {
            throw ConfigurationErrors([
                ConfigurationError(key: Self.key.name, problem: "must name a file of \(Self.byteCount) bytes")
            ])
        }
        self.init(secret, service: service)
    }

    /// The code of the address in a call's metadata; nil if there is none that is limited.
    ///
    /// Of an IPv6 address the first 56 bits count, since a household may have all that begin with them. This machine's own
    /// addresses and those of private networks are nobody's: requests from there are development's, or come through a
    /// proxy that nobody told the gateway of, and then all people would share one count.
    public func code(of metadata: Metadata) -> [UInt8]? {
        guard !metadata.isEmpty, let text = metadata.first(Self.metadataName), let address = Self.network(text) else {
            return nil
        }
        return SHA256.authenticationCode(of: purpose + address, key: key)
    }

    /// The code of the site of the address in a call's metadata: the /48 of an IPv6 address. 256 codes of ``code(of:)`` belong to one site.
    /// Nil for IPv4, and where ``code(of:)`` is nil.
    public func siteCode(of metadata: Metadata) -> [UInt8]? {
        guard !metadata.isEmpty, let text = metadata.first(Self.metadataName), let address = Self.network(text),
            address.count > Self.siteByteCount
        else { return nil }
        return SHA256.authenticationCode(of: purpose + address.prefix(Self.siteByteCount), key: key)
    }

    /// The code of a phone number that a user asked about, of 16 bytes. Phone numbers are as few as addresses. The code covers the
    /// user's id, so that the same number has another code for each user.
    ///
    /// - Parameter asker: the bytes of the user's id, always the same number of them.
    public func code(ofNumber digits: String, askedBy asker: [UInt8]) -> [UInt8] {
        Array(SHA256.authenticationCode(of: numberPurpose + asker + digits.utf8, key: key).prefix(16))
    }

    /// The bytes of an address that tell whose it is: 4 of IPv4, 7 of IPv6. Nil for what is none, for loopback and for
    /// private networks (RFC 1918, RFC 4193, RFC 3927, RFC 4291).
    static func network(_ text: String) -> [UInt8]? {
        // The longest is an IPv6 address with an IPv4 one at its end.
        guard text.utf8.count <= 45 else { return nil }
        var short = in_addr()
        if inet_pton(AF_INET, text, &short) == 1 {
            return withUnsafeBytes(of: short) { isOurs($0[0], $0[1]) ? nil : Array($0) }
        }
        var long = in6_addr()
        guard inet_pton(AF_INET6, text, &long) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: long) { Array($0) }
        if bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            return isOurs(bytes[12], bytes[13]) ? nil : Array(bytes[12...])
        }
        let isLoopback = bytes.prefix(15).allSatisfy { $0 == 0 } && bytes[15] == 1
        let isPrivate = bytes[0] & 0xFE == 0xFC || (bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80)
        return isLoopback || isPrivate ? nil : Array(bytes.prefix(7))
    }

    /// Whether an IPv4 address that begins so is loopback's or a private network's.
    private static func isOurs(_ first: UInt8, _ second: UInt8) -> Bool {
        switch (first, second) {
        case (127, _), (10, _), (172, 16...31), (192, 168), (169, 254): true
        default: false
        }
    }
}
