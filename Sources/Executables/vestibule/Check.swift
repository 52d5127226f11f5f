import ArgumentParser
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule check`: has identity, which alone knows its configuration, tell what it comes to.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check identity's configuration and its providers file, and print what they result in.",
        discussion: """
            Becomes `identity check` of the program beside this one (or in the folder that \(StackKeys.programs.name) names). It \
            reads the configuration as identity does at its start, and tells all faults at once, and never a secret. It connects \
            to nothing.

            Exits with 0 if identity would start with this configuration, with 1 if it would not.
            """
    )

    @OptionGroup var file: ConfigurationFileOption
    @Option(help: "A providers file to check alone.")
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
