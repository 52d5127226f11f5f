import ArgumentParser
import LocalStack
import ServiceKit

/// `vestibule apple-transfer`: runs `identity apple-transfer`, since identity has the keys and the database.
struct AppleTransfer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apple-transfer",
        abstract: "Move Apple's users to another developer team with their apps.",
        discussion: """
            Runs `identity apple-transfer` of the program beside this one (or in the folder that \
            \(StackKeys.programs.name) names), with identity's configuration: `export --to TEAM` before the apps are \
            transferred, with the key of the old team, `import --from TEAM` after it, with the key of the new team, \
            and `status`. `vestibule apple-transfer export --help` lists the options. Both may be killed and run \
            again.
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
