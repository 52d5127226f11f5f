import ArgumentParser
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule check`: runs `identity check`, since only identity knows its configuration.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check identity's configuration and its providers file, and print the resulting settings.",
        discussion: """
            Runs `identity check` of the program beside this one (or in the folder that \(StackKeys.programs.name) \
            names). It reads the configuration like identity at its start, and prints all errors together, and never \
            a secret. It opens no connections.

            The exit code is 0 if identity would start with this configuration, and 1 if it would not.
            """
    )

    @OptionGroup var file: ConfigurationFileOption
    @Option(help: "Check only this providers file.")
    var providers: String?

    func run() {
        var arguments = ["check"]
        if let path = file.path { arguments += ["--config", path] }
        if let providers { arguments += ["--providers", providers] }
        IdentityProgram.become(
            arguments,
            of: "vestibule check",
            inContainers: "docker compose run --rm --no-deps identity check"
        )
    }
}
