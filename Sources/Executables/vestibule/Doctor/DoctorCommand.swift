import ArgumentParser
import Foundation
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule doctor`: what is wrong with a configuration or a running system, and what mends it.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examine the configuration of all programs, and what runs; print each finding with what mends it.",
        discussion: """
            Asks `identity doctor`, `profile doctor`, `invites doctor` and `gateway doctor` of the programs beside this one (or in the \
            folder that \(StackKeys.programs.name) names), each with its own keys, and reads the metrics of those that run, as \
            `vestibule status` does. With `make run` no more is needed. It changes nothing, and never prints a secret. In \
            containers: docker/doctor.sh.

            \(DoctorHelp.exitCodes)
            """
    )

    @OptionGroup var file: ConfigurationFileOption
    @Flag(help: "Print one line of JSON.")
    var json = false

    /// All that was found as JSON.
    private struct Output: Encodable {
        /// Whether a program answered, so that what runs was examined, too.
        let isRunning: Bool
        let findings: [Finding]
    }

    func run() throws {
        let asked = concurrentMap(Status.programs) { [path = file.path] program in
            ProgramDoctor(program: program, configurationPath: path).findings()
        }
        let programs = Status.statuses(Status.targets(path: file.path, isQuiet: true))
        let isRunning = programs.contains { $0.reading != nil }
        let running = isRunning ? Finding.findings(programs, now: Date().timeIntervalSince1970) : []
        let findings = (asked.flatMap(\.self) + shared + running).merged
        if json {
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(Output(isRunning: isRunning, findings: findings)), as: UTF8.self))
        } else {
            for finding in findings { print(finding.line) }
            if findings.isEmpty { print(DoctorHelp.well) }
            if !isRunning { print("No program answers, so only the configuration was examined.") }
        }
        Program.end(nil, code: DoctorHelp.exitCode(of: findings))
    }

    /// What no program knows alone: URLs that two of them are given, and the folder of the local stack.
    private var shared: [Finding] {
        let keys: [any AnyConfigurationKey] = [PublicURLs.issuerKey, PublicURLs.gatewayKey, StackKeys.folder]
        let environment = ProcessInfo.processInfo.environment
        // A fault of one of them is found by the program that reads it.
        guard let configuration = try? Configuration.load(only: keys, path: file.path, environment: environment) else {
            return []
        }
        let urls = PublicURLs(
            issuer: configuration[PublicURLs.issuerKey],
            gateway: configuration[PublicURLs.gatewayKey]
        )
        let folder = configuration[StackKeys.folder]
        return urls.findings + [DiskSpace(folder: folder)?.finding(StackKeys.folder.name, folder)].compactMap(\.self)
    }
}
