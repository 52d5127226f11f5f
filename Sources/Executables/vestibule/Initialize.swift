import ArgumentParser
import Deployment
import Glibc
import ServiceKit

/// Makes the secrets of a deployment.
struct Initialize: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a deployment's secrets and certificates in a folder, and renew certificates that end soon.",
        discussion: """
            What is there stays as it is, but for certificates. Passwords of the database's owner and of each service's role, a \
            folder of identity's keys (those that sign tokens, those of refresh tokens, and those under which it proves to services \
            on whose behalf they are called), a folder for profile and one for invites with what each needs of the latter, the \
            key under which clients' addresses are counted, a small certificate authority, and for each service, the gateway and \
            operators a key and a certificate with a DNS name (identity) and a URI (spiffe://vestibule/identity).

            The folder can be entered by its owner only. The files in it that containers are given can be read by all, \
            since a container's user is another; the authority's key and the operators' are the owner's alone. Nothing that runs \
            needs the former, only this command when it makes a certificate: it may be kept elsewhere and given with --authority-key.

            Certificates are valid for 60 days, and nothing revokes them. One with less than 20 days left is renewed with a \
            new key, where it is, so that programs read it at SIGHUP: `make renew` does both, and should be run each day \
            or week. Connections live for an hour, so that an old certificate doesn't live on in them.
            """
    )

    @Option(help: "The folder; made if it isn't there.")
    var folder = "docker/secrets"

    @Option(help: "The authority's private key, if it isn't kept in the folder.")
    var authorityKey: String?

    @Option(help: "A program whose certificate is renewed now; may be repeated.")
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
