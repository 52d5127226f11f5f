import ArgumentParser
import LocalStack
import ServiceKit

/// `vestibule apple-transfer`: has identity, which has the keys and the database, move Apple's people to another developer team.
struct AppleTransfer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apple-transfer",
        abstract: "Move Apple's users to another developer team with their apps.",
        discussion: """
            Becomes `identity apple-transfer` of the program beside this one (or in the folder that \(StackKeys.programs.name) \
            names), with identity's configuration: `export --to TEAM` before the apps are transferred, with the key of the team \
            that they leave, `import --from TEAM` after it, with the key of the team that they come to, and `status`. \
            `vestibule apple-transfer export --help` tells the options. Either may be killed and run again.
            """
    )

    @Argument(
        parsing: .captureForPassthrough,
        help: "export --to TEAM, import --from TEAM, or status, and their options."
    )
    var arguments: [String] = []

    func run() {
        IdentityProgram.become(
            ["apple-transfer"] + arguments,
            of: "vestibule apple-transfer",
            inContainers: "docker compose run --rm identity apple-transfer"
        )
    }
}
