import ArgumentParser
import FoundationEssentials
import Glibc
import IdentityDomain
import JOSE

/// Prints a client secret as identity makes one for each call of Apple's token endpoint, for a foreign library to verify.
@main
struct InteropClientSecret: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "interop-client-secret",
        abstract: "Mints a client secret for Apple's token endpoint."
    )

    @Option(help: "PEM file of a private key, P-256.")
    var key: String

    @Option(help: "The app.")
    var clientID: String

    @Option(help: "The developer team.")
    var teamID: String

    @Option(help: "The key's name.")
    var keyID: String

    func run() throws {
        let secret = try AppleClientSecret.mint(
            clientID: clientID,
            teamID: teamID,
            keyID: keyID,
            key: SigningKey(pem: String(contentsOfFile: key, encoding: .utf8)),
            nowSeconds: Int64(time(nil))
        )
        print(secret)
    }
}
