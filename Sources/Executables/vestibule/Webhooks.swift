import ArgumentParser
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule webhooks`: has identity, which has the database, look at events that targets of webhooks didn't take.
struct Webhooks: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List webhook events that were not delivered, and retry them.",
        discussion: """
            Becomes `identity webhooks` of the program beside this one (or in the folder that \(StackKeys.programs.name) names), \
            with identity's configuration: `vestibule webhooks list`, `show ID`, `replay ID …|--all|--target NAME`. All that each \
            takes is told by its --help.
            """
    )

    @Argument(parsing: .captureForPassthrough, help: "list, show or replay, and what these take.")
    var arguments: [String] = []

    func run() {
        IdentityProgram.become(
            ["webhooks"] + arguments,
            of: "vestibule webhooks",
            inContainers: "docker compose run --rm identity webhooks"
        )
    }
}
