import ArgumentParser
import Deployment
import Glibc
import ServiceKit

/// Makes the secrets of a deployment.
struct Initialize: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a deployment's secrets and certificates in a folder; what is there stays as it is.",
        discussion: """
            Passwords of the database's owner and of each service's role, the key that signs tokens, the key of refresh \
            tokens, a small certificate authority, and for each service and the gateway a key and a certificate with a \
            DNS name (identity) and a URI (spiffe://vestibule/identity).

            The folder can be entered by its owner only. The files in it that containers are given can be read by all, \
            since a container's user is another; the authority's key is the owner's alone, and nothing that runs needs it.

            To renew a certificate, remove it and run this again: it is made anew for the same key.
            """
    )

    @Option(help: "The folder; made if it isn't there.")
    var folder = "docker/secrets"

    func run() {
        do {
            let entries = try DeploymentFolder(path: folder).initialize(now: time(nil))
            let width = entries.map(\.name.count).max() ?? 0
            for entry in entries {
                let remark = Self.remark(entry)
                let space = remark.isEmpty ? "" : String(repeating: " ", count: width - entry.name.count + 2)
                print("\(entry.isNew ? "made" : "kept")  \(folder)/\(entry.name)\(space)\(remark)")
            }
        } catch {
            Program.end(error, program: "vestibule init")
        }
    }

    private static func remark(_ entry: DeploymentFolder.Entry) -> String {
        guard let days = entry.daysLeft else { return "" }
        if days < 0 { return "EXPIRED: remove it and run this again" }
        return "valid for \(days) days" + (days < DeploymentFolder.daysLeftMin ? ": remove it and run this again" : "")
    }
}
