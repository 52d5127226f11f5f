import ArgumentParser
import FoundationEssentials
import Glibc
import ServiceKit

/// `doctor`: examines a program's configuration, in the place where its secrets are. `vestibule doctor` asks all programs.
struct Doctor<Server: ProgramServer>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "doctor",
            abstract: "Examine the configuration and what it names, and print each finding with what mends it.",
            discussion: """
                Looks at keys, files and their rights, certificates, names, ports, the limit of open files and the database. Changes nothing, \
                and never prints a secret.

                \(DoctorHelp.exitCodes)
                """
        )
    }

    @OptionGroup var file: ConfigurationFileOption
    @Flag(help: "Print a line of JSON for each finding.")
    var json = false

    func run() async {
        var findings: [Finding] = []
        func report(_ finding: Finding) {
            guard !findings.contains(finding) else { return }
            findings.append(finding)
            // At once: a step that hangs must not keep what was found before it.
            print(json ? DoctorHelp.line(of: finding) : finding.line)
            fflush(nil)
        }
        await Program.examine(Server.self, configurationPath: file.path, report: report)
        if findings.isEmpty, !json { print(DoctorHelp.well) }
        Program.end(nil, code: DoctorHelp.exitCode(of: findings))
    }
}

/// What `doctor` of the programs and `vestibule doctor` have in common.
public enum DoctorHelp {
    /// The exit codes.
    public static let exitCodes =
        "The exit code is 0 if nothing was found, 1 if there are warnings, and 2 if something fails."
    /// What is printed if nothing was found.
    public static let well = "Nothing needs attention."

    /// The exit code.
    public static func exitCode(of findings: [Finding]) -> Int32 { findings.hasFailure ? 2 : findings.isEmpty ? 0 : 1 }

    /// A finding as one line of JSON.
    static func line(of finding: Finding) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(finding)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// The findings of a program's lines; what is no finding is left out.
    public static func findings(lines: String) -> [Finding] {
        lines.split(whereSeparator: \.isNewline).compactMap {
            try? JSONDecoder().decode(Finding.self, from: Data($0.utf8))
        }
    }
}
