import ArgumentParser
import Foundation
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule import`: runs `identity import` and `profile import`, since these programs have the databases.
struct ImportAccounts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import the accounts of another backend.",
        discussion: """
            Runs `identity import` and `profile import` of the programs beside this one (or in the folder that \
            \(StackKeys.programs.name) names), each with its own configuration and database; the output of the first \
            is the input of the second. It may be killed at any time: the same command continues. In containers: \
            docker compose run --rm -T identity import … | docker compose run --rm -T profile import; \
            docs/move/imports.md has the whole line.

            Users sign in to their accounts by the providers that they used before. Numbers that were proven by a \
            code are imported as proven. Accounts that no user can sign in to aren't imported, but listed. The exit \
            code is 0 if everything was imported, 3 if rows or parts of rows were rejected, and 1 if the import \
            failed before its end.
            """
    )

    private static let name = "vestibule import"
    private static let done: Set<Int32> = [0, 3]

    @OptionGroup var file: ConfigurationFileOption
    @OptionGroup var options: ImportOptions

    func run() {
        let configuration = file.path.map { ["--config", $0] } ?? []
        var arguments = ["import"] + options.arguments
        if !options.dryRun, let position = position(arguments) {
            arguments.append("--after=\(position)")
            print("continues at line \(position.split(separator: ":")[1])")
            fflush(nil)
        }
        let status = ServicePrograms.pipe(
            ("identity", arguments + ["--end-with-input"] + configuration),
            into: ("profile", ["import", "--rejects", options.rejects] + configuration),
            by: Self.name
        )
        guard Self.done.contains(status.first), Self.done.contains(status.second) else {
            Program.end("\(Self.name): it failed before its end; run the same command again to continue", code: 1)
        }
        Program.end(nil, code: max(status.first, status.second))
    }

    /// Profile's position in these files; nil for the beginning.
    private func position(_ arguments: [String]) -> String? {
        let digest = ServicePrograms.ask(
            "identity",
            arguments + ["--digest"],
            configurationPath: file.path,
            by: Self.name
        )
        guard digest.status == 0 else { Program.end("\(Self.name): identity could not read the files", code: 1) }
        let position = ServicePrograms.ask(
            "profile",
            ["import", "--position", digest.text],
            configurationPath: file.path,
            by: Self.name
        )
        guard position.status == 0 else { Program.end("\(Self.name): profile could not report its progress", code: 1) }
        return position.text.isEmpty ? nil : position.text
    }
}
