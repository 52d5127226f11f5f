import Certificates
import Glibc
import JOSE
import KeyRings
import ServiceKit

/// The secrets of a deployment, in a folder that only its owner may enter.
///
/// Existing files stay, but certificates with less than a third of their lifetime left are renewed, with new keys. They are
/// valid only for days, since they can't be revoked: a stolen one works until it expires. The services' derived keys are
/// made to match identity's keys.
///
/// Files that are mounted into containers can be read by all users, since a container's user isn't the owner. The folder's mode
/// keeps other users of the machine out, and each container gets only its own files.
public struct DeploymentFolder: Sendable {
    /// A file and its outcome.
    public struct Entry: Sendable, Hashable {
        /// Its name in the folder.
        public let name: String
        /// The outcome.
        public var change: Change
        /// For a certificate: the number of days that it is still valid.
        public var daysLeft: Int?

        /// Whether it was made now.
        public var isNew: Bool { change == .made }
    }

    /// The outcome for a file.
    public enum Change: String, Sendable, Hashable {
        /// It wasn't there.
        case made
        /// It stays as it was.
        case kept
        /// It was replaced in place, so that a container that mounts it, or its folder of keys, sees the new one.
        case renewed
    }

    /// The name for an operator's calls. No running program has it, so no container gets the key.
    private static let operatorName = "operator"
    /// The programs that get certificates, the operator's calls among them.
    public static let programs = ["identity", "profile", "invites", "gateway", "console", operatorName]
    /// The services that have a role in the database.
    static let services = ["identity", "profile", "invites"]
    /// The prefix of callers' names in allow lists.
    public static let trustDomain = "spiffe://vestibule/"
    /// How long the authority is valid.
    static let authorityDays = 3650
    /// How long the certificates of programs are valid.
    static let certificateDays = 60
    /// A program's certificate is renewed when fewer days are left: a third of its lifetime.
    public static let renewalDaysLeft = 20
    /// A warning is printed when the authority has fewer days left: a new one replaces all certificates, which isn't done
    /// automatically.
    public static let authorityDaysLeftMin = 180

    /// The mode of files for the owner only; no container needs them.
    private static let ownerOnly: mode_t = 0o600
    /// The mode of files that containers mount.
    private static let mounted: mode_t = 0o444

    /// The folder.
    public let path: String
    private let authorityKeyFile: String

    /// A folder, which need not exist yet.
    ///
    /// - Parameter authorityKeyFile: the authority's private key, which is needed only for new certificates; nil for
    ///   `ca-key.pem` in the folder.
    public init(path: String, authorityKeyFile: String? = nil) {
        self.path = path
        self.authorityKeyFile = authorityKeyFile ?? "\(path)/ca-key.pem"
    }

    /// Makes missing files, and renews certificates that expire soon.
    ///
    /// - Parameters:
    ///   - now: the current time, in seconds since 1970, from which certificates are valid.
    ///   - renewing: programs whose certificates are renewed in any case.
    /// - Returns: all files, in order.
    /// - Throws: `FileError` with the path in it; `DeploymentError` for a certificate whose key is missing, or that needs the
    ///   authority's key while that is missing.
    public func initialize(now: Int, renewing: Set<String> = []) throws -> [Entry] {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST, chmod(path, 0o700) == 0 else {
            throw FileError("\(path) cannot be made: \(String(cString: strerror(errno)))")
        }
        if let unknown = renewing.first(where: { !Self.programs.contains($0) }) {
            throw DeploymentError("\(unknown) has no certificate; expected \(Self.programs.joined(separator: ", "))")
        }
        let roles = Self.services.flatMap { ["\($0)-database", "\($0)-database-owner"] }
        var entries = try (["postgres"] + roles + ["backup-database"]).map(password)
        // Containers mount the folders, so that a file in them can be replaced by another one of the same name.
        entries += try KeyFolders(secrets: path).initialize(
            folderMode: 0o755,
            mode: Self.mounted,
            nowSeconds: Int64(now)
        ).map { Entry(name: $0.name, change: Change($0.change)) }
        entries.append(try make("address-key", Self.mounted) { SecureRandom.bytes(ClientAddressKey.byteCount) })
        entries += try authority(now)
        for program in Self.programs { entries += try pair(program, now, isForced: renewing.contains(program)) }
        return entries
    }

    /// 192 random bits in characters that need no escapes in a connection string.
    private func password(of owner: String) throws -> Entry {
        try make("\(owner)-password", Self.mounted) { Array(Base64URL.encode(SecureRandom.bytes(24)).utf8) }
    }

    /// The authority. Its key may be moved elsewhere after it is made.
    private func authority(_ now: Int) throws -> [Entry] {
        var entries: [Entry] = []
        let isThere = access(file("ca.pem"), F_OK) == 0
        if !isThere, access(authorityKeyFile, F_OK) != 0 {
            let isNew = try FileBytes.create(authorityKeyFile, mode: Self.ownerOnly) {
                Array(try SigningKey.generateP256().pem().utf8)
            }
            entries.append(Entry(name: "ca-key.pem", change: isNew ? .made : .kept))
        } else if access(file("ca-key.pem"), F_OK) == 0 {
            entries.append(Entry(name: "ca-key.pem", change: .kept))
        }
        var made = try make("ca.pem", Self.mounted) {
            try CertificateAuthority.certificate(
                name: "Vestibule services",
                keyPEM: try read(path: authorityKeyFile),
                validity: Validity(now: now, days: Self.authorityDays)
            )
        }
        made.daysLeft = try CertificateAuthority.daysLeft(certificatePEM: try read("ca.pem"), now: now)
        return entries + [made]
    }

    /// A program's private key and certificate: made if missing, and renewed together.
    private func pair(_ name: String, _ now: Int, isForced: Bool) throws -> [Entry] {
        let (keyFile, certificateFile) = ("\(name)-key.pem", "\(name).pem")
        let keyMode = name == Self.operatorName ? Self.ownerOnly : Self.mounted
        let isThere = access(file(certificateFile), F_OK) == 0
        if isThere, access(file(keyFile), F_OK) != 0 {
            throw DeploymentError(
                "\(file(certificateFile)) exists, but its key \(keyFile) is missing: restore it, or delete both"
            )
        }
        var change = Change.kept
        if !isThere {
            // A key without a certificate: the certificate was deleted. The key isn't overwritten: if both files are mounted, the
            // mounted two must stay a pair.
            unlink(file(keyFile))
            let (key, certificate) = try issue(name, now)
            change = .made
            _ = try make(keyFile, keyMode) { key }
            _ = try make(certificateFile, Self.mounted) { certificate }
        } else if try isForced || endsSoon(certificateFile, keyFile, now) {
            let (key, certificate) = try issue(name, now)
            change = .renewed
            try FileBytes.rewrite(file(keyFile), mode: keyMode, key)
            try FileBytes.rewrite(file(certificateFile), mode: Self.mounted, certificate)
        }
        let daysLeft = try CertificateAuthority.daysLeft(certificatePEM: try read(certificateFile), now: now)
        return [
            Entry(name: keyFile, change: change), Entry(name: certificateFile, change: change, daysLeft: daysLeft),
        ]
    }

    /// Whether a certificate must be renewed: it expires soon, or an interrupted renewal left a mismatched key.
    private func endsSoon(_ certificateFile: String, _ keyFile: String, _ now: Int) throws -> Bool {
        let (certificate, key) = (try read(certificateFile), try read(keyFile))
        guard let isPair = try? CertificateAuthority.isPair(certificatePEM: certificate, keyPEM: key), isPair else {
            return true
        }
        return try CertificateAuthority.daysLeft(certificatePEM: certificate, now: now) < Self.renewalDaysLeft
    }

    /// A new key and a certificate for it.
    private func issue(_ program: String, _ now: Int) throws -> (key: [UInt8], certificate: [UInt8]) {
        guard access(authorityKeyFile, F_OK) == 0 else {
            throw DeploymentError(
                "\(program) needs a new certificate, but the authority's key is missing: \(authorityKeyFile)"
            )
        }
        let authority = try CertificateAuthority(
            certificatePEM: try read("ca.pem"),
            keyPEM: try read(path: authorityKeyFile)
        )
        let key = Array(try SigningKey.generateP256().pem().utf8)
        let certificate = try authority.issue(
            commonName: program,
            names: [.dns(program), .uri(Self.trustDomain + program)],
            keyPEM: key,
            validity: Validity(now: now, days: Self.certificateDays)
        )
        return (key, certificate)
    }

    private func make(_ name: String, _ mode: mode_t, _ content: () throws -> [UInt8]) throws -> Entry {
        Entry(name: name, change: try FileBytes.create(file(name), mode: mode, content) ? .made : .kept)
    }

    private func read(_ name: String) throws -> [UInt8] { try read(path: file(name)) }

    private func read(path: String) throws -> [UInt8] {
        do throws(FileError) {
            return try FileBytes.read(path, bytesMax: 65_536)
        } catch {
            throw DeploymentError("\(path) \(error)")
        }
    }

    private func file(_ name: String) -> String { "\(path)/\(name)" }
}

extension DeploymentFolder.Change {
    fileprivate init(_ change: KeyFolders.Change) {
        switch change {
        case .made: self = .made
        case .kept: self = .kept
        case .renewed: self = .renewed
        }
    }
}

/// Why a deployment could not be prepared: one line for people.
public struct DeploymentError: Error, Sendable, CustomStringConvertible {
    /// The line.
    public let description: String

    init(_ description: String) { self.description = description }
}
