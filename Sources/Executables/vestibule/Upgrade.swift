import ArgumentParser
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule upgrade --plan`: what an upgrade of the services' databases would do.
struct Upgrade: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what an upgrade to this version would do to the databases.",
        discussion: """
            Run it with the programs of the new version, before they are started. For each service it prints the migrations that \
            would run, which tables they lock, how large those are and for how long, the order in which programs are replaced, and \
            whether the step from the version that runs now is allowed. It only reads, and changes nothing.

            Asks `identity migrate --plan`, `profile migrate --plan` and `invites migrate --plan` of the programs beside this one (or in \
            the folder that \(StackKeys.programs.name) names), each with its own configuration and database. In containers: \
            make plan.

            \(MigrationHelp.exitCodes)
            """
    )

    /// The gateway last, since it uses what is new in the services.
    private static let order = ServicePrograms.all + ["gateway"]

    /// All reports as JSON.
    private struct Output: Encodable {
        let isAllowed: Bool
        let order: [String]
        let services: [MigrationReport]
    }

    @OptionGroup var file: ConfigurationFileOption
    @Flag(help: "Print the plan. An upgrade itself replaces one program after the other, as docs/run/upgrade.md says.")
    var plan = false
    @Flag(help: "Print one line of JSON.")
    var json = false

    func validate() throws {
        guard plan else {
            throw ValidationError("give --plan; the steps of an upgrade are in docs/run/upgrade.md")
        }
    }

    func run() throws {
        var reports: [MigrationReport] = []
        for service in ServicePrograms.all {
            let answer = ServicePrograms.ask(
                service,
                ["migrate", "--plan", "--json"],
                configurationPath: file.path,
                by: "vestibule upgrade"
            )
            // It has said why.
            guard answer.status == 0 || answer.status == MigrationHelp.notAllowed else {
                Program.end(nil, code: answer.status)
            }
            reports.append(try MigrationReport(json: answer.text))
        }
        let isAllowed = reports.allSatisfy(\.verdict.isAllowed)
        print(
            json
                ? try MigrationReport.line(of: Output(isAllowed: isAllowed, order: Self.order, services: reports))
                : Self.text(reports, isAllowed: isAllowed)
        )
        Program.end(nil, code: isAllowed ? 0 : MigrationHelp.notAllowed)
    }

    private static func text(_ reports: [MigrationReport], isAllowed: Bool) -> String {
        let verdict =
            isAllowed
            ? "Allowed while the services run, in this order: \(order.joined(separator: ", ")). Each service is migrated, then replaced."
            : "Not allowed: see above."
        return (reports.map(\.text) + [MigrationReport.basis(of: reports), verdict].compactMap { $0 })
            .joined(separator: "\n\n")
    }
}
