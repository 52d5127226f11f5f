import ArgumentParser
import FoundationEssentials
import IdentityService
import ServiceCommands
import ServiceKit

/// `identity check`: checks the configuration, in the place where its secrets are.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the configuration and its providers file, and print the resulting settings.",
        discussion: ConfigurationCheck.discussion
    )

    @OptionGroup var file: ConfigurationFileOption
    @Option(help: "Check only this providers file.")
    var providers: String?

    func run() {
        let outcome = ConfigurationCheck(
            path: file.path,
            providersPath: providers,
            environment: ProcessInfo.processInfo.environment
        )
        .run()
        print(outcome.report.joined(separator: "\n"))
        let faults = outcome.faults.map { "identity check: \($0)" }.joined(separator: "\n")
        Program.end(faults.isEmpty ? nil : faults, code: faults.isEmpty ? 0 : 1)
    }
}
