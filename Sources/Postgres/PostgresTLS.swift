/// Whether a connection over TCP is encrypted, and what the server must prove (PostgreSQL manual, "SSL Support").
public enum PostgresTLS: Sendable, Hashable {
    /// Never encrypted: for a network that is nobody else's.
    case disable
    /// Encrypted if the server offers it. An attacker on the way can prevent that, and read and change everything.
    case prefer
    /// Connects only with encryption. The server need not prove who it is, so an attacker on the way can impersonate it.
    case require
    /// Connects only with encryption, and with a certificate for the very host that is asked for, from an authority in
    /// the PEM file; nil stands for those that the system trusts.
    case verifyFull(authoritiesFile: String?)

    /// Where Debian, Ubuntu and their like keep the authorities that the system trusts (package ca-certificates).
    static let systemAuthoritiesFile = "/etc/ssl/certs/ca-certificates.crt"

    /// libpq's keywords. The file is named in any mode, so that it never looks for one in the home folder; where the
    /// server need not prove itself there must be none, since one that is there would be held against it.
    package var connectionParameters: [(keyword: String, value: String)] {
        switch self {
        case .disable: [("sslmode", "disable")]
        case .prefer: [("sslmode", "prefer"), ("sslrootcert", "/dev/null/none")]
        case .require: [("sslmode", "require"), ("sslrootcert", "/dev/null/none")]
        case .verifyFull(let file): [("sslmode", "verify-full"), ("sslrootcert", file ?? Self.systemAuthoritiesFile)]
        }
    }
}
