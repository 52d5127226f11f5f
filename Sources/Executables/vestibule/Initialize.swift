import ArgumentParser
import Deployment
import Glibc
import ServiceKit

/// `vestibule init`.
struct Initialize: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a deployment's secrets and certificates in a folder, and renew certificates that expire soon.",
        discussion: """
            It makes passwords of the database's owner, of each service's role and of the one that reads backups, a folder of identity's keys (for \
            signing, for refresh tokens, and for proofs of the user on whose behalf a service is called), a folder \
            with derived keys for profile and one for invites, the key for counting clients' addresses, and a small \
            certificate authority. Each service, the gateway and operators get a key and a certificate with a DNS \
            name (identity) and a URI (spiffe://vestibule/identity). Existing files stay as they are, except \
            certificates.

            Only the owner can enter the folder. Files for containers can be read by all users, since a container's \
            user isn't the owner; only the owner can read the authority's key and the operators' key. No running \
            program needs the authority's key, only this command for new certificates: you may keep it elsewhere and \
            pass it with --authority-key.

            Certificates are valid for 60 days, and can't be revoked. A certificate with less than 20 days left is \
            renewed in place with a new key, and programs read it at SIGHUP: `make renew` does both, and should be \
            run each day or week. Connections are closed after an hour, so that none keeps using an old certificate.
            """
    )

    @Option(help: "The folder; created if it is missing.")
    var folder = "docker/secrets"

    @Option(help: "The authority's private key, if it isn't kept in the folder.")
    var authorityKey: String?

    @Option(help: "A program whose certificate is renewed now; can be repeated.")
    var renew: [String] = []

    func run() {
        do {
            let entries = try DeploymentFolder(path: folder, authorityKeyFile: authorityKey)
                .initialize(now: time(nil), renewing: Set(renew))
            let width = entries.map(\.name.count).max() ?? 0
            for entry in entries {
                let remark = Self.remark(entry)
                let space = remark.isEmpty ? "" : String(repeating: " ", count: width - entry.name.count + 2)
                let change = entry.change.rawValue.padded(to: DeploymentFolder.Change.renewed.rawValue.count)
                print("\(change)  \(folder)/\(entry.name)\(space)\(remark)")
            }
        } catch {
            Program.end(error, program: "vestibule init")
        }
    }

    private static func remark(_ entry: DeploymentFolder.Entry) -> String {
        guard let days = entry.daysLeft else { return "" }
        let isShort = entry.name == "ca.pem" && days < DeploymentFolder.authorityDaysLeftMin
        return "valid for \(days) days" + (isShort ? ": THE AUTHORITY ENDS SOON, and all certificates with it" : "")
    }
}

extension String {
    /// The text with spaces behind it up to a width.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
