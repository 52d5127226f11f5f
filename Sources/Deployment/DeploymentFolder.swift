import Certificates
import Glibc
import JOSE
import KeyRings
import ServiceKit

/// The secrets of a deployment, in a folder that only its owner may enter.
///
/// What is there stays, but for certificates: those with less than a third of their life left are made anew, with new keys.
/// They live for days only, since nothing revokes them: whoever copied one has it until it ends. And what services have of
/// identity's keys of proofs follows these.
///
/// The files that are mounted into containers, whose users are not the owner, can be read by all; the folder's mode keeps
/// other users of the machine out, and each container is given only its own.
public struct DeploymentFolder: Sendable {
    /// A file, and what became of it.
    public struct Entry: Sendable, Hashable {
        /// Its name in the folder.
        public let name: String
        /// What became of it.
        public var change: Change
        /// Of a certificate: how many days it is still valid.
        public var daysLeft: Int?

        /// Whether it was made now.
        public var isNew: Bool { change == .made }
    }

    /// What became of a file.
    public enum Change: String, Sendable, Hashable {
        /// It wasn't there.
        case made
        /// It stays as it was.
        case kept
        /// It was made anew where it was, so that whoever has it, or its folder of keys, mounted sees it.
        case renewed
    }

    /// Whoever calls as an operator: no program that runs, and so no container that is given the key.
    private static let operatorName = "operator"
    /// The programs that get certificates, the operator's calls among them.
    public static let programs = ["identity", "profile", "invites", "gateway", operatorName]
    /// The services that have a role in the database.
    static let services = ["identity", "profile", "invites"]
    /// What the names of callers begin with, as allow lists have them.
    public static let trustDomain = "spiffe://vestibule/"
    static let authorityDays = 3650
    static let certificateDays = 60
    /// A program's certificate that ends sooner is made anew: a third of its life.
    public static let renewalDaysLeft = 20
    /// An authority that ends sooner is worth a word: all certificates change with it, which nothing does by itself.
    public static let authorityDaysLeftMin = 180

    /// What only the owner reads; nothing that runs in a container needs it.
    private static let ownerOnly: mode_t = 0o600
    private static let mounted: mode_t = 0o444

    /// The folder.
    public let path: String
    private let authorityKeyFile: String

    /// A folder, which need not exist.
    ///
    /// - Parameter authorityKeyFile: where the authority's private key is, which only a certificate that is made anew needs;
    ///   nil for `ca-key.pem` in the folder.
    public init(path: String, authorityKeyFile: String? = nil) {
        self.path = path
        self.authorityKeyFile = authorityKeyFile ?? "\(path)/ca-key.pem"
    }

    /// Makes what is missing, and renews certificates that end soon.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970, from which certificates count.
    ///   - renewing: programs whose certificates are renewed in any case.
    /// - Returns: all files in order.
    /// - Throws: `FileError` with the path in it, `DeploymentError` for a certificate whose key is gone or for which the
    ///   authority's would be needed.
    public func initialize(now: Int, renewing: Set<String> = []) throws -> [Entry] {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST, chmod(path, 0o700) == 0 else {
            throw FileError("\(path) cannot be made: \(String(cString: strerror(errno)))")
        }
        if let unknown = renewing.first(where: { !Self.programs.contains($0) }) {
            throw DeploymentError("\(unknown) has no certificate; there are \(Self.programs.joined(separator: ", "))")
        }
        let roles = Self.services.flatMap { ["\($0)-database", "\($0)-database-owner"] }
        var entries = try (["postgres"] + roles).map(password)
        // The folders are what containers are given: a file in them is replaced by another one of the same name.
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

    /// 192 random bits in letters that no connection text needs to escape.
    private func password(of owner: String) throws -> Entry {
        try make("\(owner)-password", Self.mounted) { Array(Base64URL.encode(SecureRandom.bytes(24)).utf8) }
    }

    /// The authority. Its key may be kept elsewhere once it is made.
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

    /// A program's private key and certificate: made where there is none, and renewed together.
    private func pair(_ name: String, _ now: Int, isForced: Bool) throws -> [Entry] {
        let (keyFile, certificateFile) = ("\(name)-key.pem", "\(name).pem")
        let keyMode = name == Self.operatorName ? Self.ownerOnly : Self.mounted
        let isThere = access(file(certificateFile), F_OK) == 0
        if isThere, access(file(keyFile), F_OK) != 0 {
            throw DeploymentError(
                "\(file(certificateFile)) is there, but its key \(keyFile) is not: put it back, or remove both"
            )
        }
        var change = Change.kept
        if !isThere {
            // A key alone is that of a certificate that was removed. It isn't written over: where both files are mounted,
            // the two there must stay a pair.
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

    /// Whether a certificate has to be made anew: it ends soon, or a renewal was cut and left two halves.
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
                "\(program) needs a new certificate, and for it the authority's key, which is not at \(authorityKeyFile)"
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
