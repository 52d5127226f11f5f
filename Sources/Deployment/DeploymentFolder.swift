import Certificates
import Glibc
import JOSE
import ServiceKit

/// The secrets of a deployment, in a folder that only its owner may enter.
///
/// A file is made once and never written again: certificates that were removed are made anew for the same keys, which is
/// how they are renewed. The files that are mounted into containers, whose users are not the owner, can be read by all;
/// the folder's mode keeps other users of the machine out, and each container is given only its own.
public struct DeploymentFolder: Sendable {
    /// A file, and what became of it.
    public struct Entry: Sendable, Hashable {
        /// Its name in the folder.
        public let name: String
        /// Whether it was made now.
        public let isNew: Bool
        /// Of a certificate: how many days it is still valid.
        public var daysLeft: Int?
    }

    /// The programs that get certificates.
    public static let programs = ["identity", "profile", "invites", "gateway"]
    /// The services that have a role in the database.
    static let services = ["identity", "profile", "invites"]
    /// What the names of callers begin with, as allow lists have them.
    public static let trustDomain = "spiffe://vestibule/"
    static let authorityDays = 3650
    static let certificateDays = 730
    /// A certificate that ends sooner is worth a word.
    public static let daysLeftMin = 30

    /// What only the owner reads; nothing that runs needs it.
    private static let ownerOnly: mode_t = 0o600
    private static let mounted: mode_t = 0o444

    /// The folder.
    public let path: String

    /// A folder, which need not exist.
    public init(path: String) { self.path = path }

    /// Makes what is missing.
    ///
    /// - Parameter now: seconds since 1970, from which certificates count.
    /// - Returns: all files in order.
    /// - Throws: `FileFault` with the path in it, `DeploymentError` for a certificate whose key is gone.
    public func initialize(now: Int) throws -> [Entry] {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST, chmod(path, 0o700) == 0 else {
            throw FileFault("\(path) cannot be made: \(String(cString: strerror(errno)))")
        }
        let roles = Self.services.flatMap { ["\($0)-database", "\($0)-database-owner"] }
        var entries = try (["postgres"] + roles).map(password)
        entries.append(
            try make("identity-signing-key.pem", Self.mounted) { Array(try SigningKey.generateP256().pem().utf8) }
        )
        entries.append(try make("identity-refresh-key", Self.mounted) { SecureRandom.bytes(32) })
        // For the key before or the next while one is replaced; empty for none, since a container is given each file.
        for name in ["identity-signing-key-other.pem", "identity-refresh-key-other"] {
            entries.append(try make(name, Self.mounted) { [] })
        }
        entries += try pair("ca", Self.ownerOnly, now) { key in
            try CertificateAuthority.certificate(
                name: "Vestibule services",
                keyPEM: key,
                validity: Validity(now: now, days: Self.authorityDays)
            )
        }
        for program in Self.programs {
            entries += try pair(program, Self.mounted, now) { key in
                let authority = try CertificateAuthority(
                    certificatePEM: try read("ca.pem"),
                    keyPEM: try read("ca-key.pem")
                )
                return try authority.issue(
                    commonName: program,
                    names: [.dns(program), .uri(Self.trustDomain + program)],
                    keyPEM: key,
                    validity: Validity(now: now, days: Self.certificateDays)
                )
            }
        }
        return entries
    }

    /// 192 bits of chance in letters that no connection text needs to escape.
    private func password(of owner: String) throws -> Entry {
        try make("\(owner)-password", Self.mounted) { Array(Base64URL.encode(SecureRandom.bytes(24)).utf8) }
    }

    /// A private key, and the certificate for it.
    private func pair(
        _ name: String,
        _ keyMode: mode_t,
        _ now: Int,
        _ certificate: (_ key: [UInt8]) throws -> [UInt8]
    ) throws -> [Entry] {
        let (keyFile, certificateFile) = ("\(name)-key.pem", "\(name).pem")
        if access(file(certificateFile), F_OK) == 0, access(file(keyFile), F_OK) != 0 {
            throw DeploymentError(
                "\(file(certificateFile)) is there, but its key \(keyFile) is not: put it back, or remove both"
            )
        }
        let key = try make(keyFile, keyMode) { Array(try SigningKey.generateP256().pem().utf8) }
        var made = try make(certificateFile, Self.mounted) { try certificate(try read(keyFile)) }
        made.daysLeft = try CertificateAuthority.daysLeft(certificatePEM: try read(certificateFile), now: now)
        return [key, made]
    }

    private func make(_ name: String, _ mode: mode_t, _ content: () throws -> [UInt8]) throws -> Entry {
        Entry(name: name, isNew: try FileBytes.create(file(name), mode: mode, content))
    }

    private func read(_ name: String) throws -> [UInt8] {
        do throws(FileFault) {
            return try FileBytes.read(file(name), bytesMax: 65_536)
        } catch {
            throw DeploymentError("\(file(name)) \(error)")
        }
    }

    private func file(_ name: String) -> String { "\(path)/\(name)" }
}

/// Why a deployment could not be prepared: one line for people.
public struct DeploymentError: Error, Sendable, CustomStringConvertible {
    /// The line.
    public let description: String

    init(_ description: String) { self.description = description }
}
