import ArgumentParser
import Glibc
import Load
import LocalStack
import ServiceCommands
import ServiceKit

/// Puts a running stack under load.
struct RunLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Put running services under load, and measure them.",
        discussion: """
            Prepares accounts through the provider simulator, makes calls for some time, and reports rate, latencies \
            and errors in a table, in NAME.json and on the page NAME.html. Ctrl-C ends it early, with the report; a \
            second Ctrl-C ends it immediately.

            Without --rate it is a closed loop: each worker begins its next call when the last one has ended. With \
            --rate it is an open loop: calls begin at fixed times, even if earlier ones have not ended, and \
            latencies count from those times.

            Exit code: 0; 1 if there were more errors than --errors-max, or no call could be made; 64 for an error in \
            the arguments; 78 for one in the configuration; 130 after a second Ctrl-C.
            """
    )

    @Argument(help: "The calls to make.")
    var scenario: Scenario
    @OptionGroup(title: "How much") var amount: LoadAmount
    @OptionGroup(title: "Target") var place: LoadPlace

    @Option(help: ArgumentHelp("The report's files, without .json and .html.", valueName: "name"))
    var output = "vestibule-load"
    @Option(help: ArgumentHelp("The maximum of errors for exit code 0.", valueName: "count"))
    var errorsMax = 0
    @OptionGroup var file: ConfigurationFileOption

    func validate() throws {
        try amount.validate()
        guard amount.sessions == nil || scenario.takesSessions else {
            let fitting = Scenario.allCases.filter(\.takesSessions).map(\.rawValue)
            throw ValidationError("--sessions can only be used with \(fitting.joined(separator: ", "))")
        }
        guard amount.firstPhone == nil || scenario == .claimPhone else {
            throw ValidationError("--first-phone can only be used with \(Scenario.claimPhone.rawValue)")
        }
        guard errorsMax >= 0 else { throw ValidationError("--errors-max must be 0 or more") }
    }

    func run() async {
        let files = ReportFiles(name: output)
        let plan: LoadPlan
        do {
            plan = try makePlan()
            try files.checkWritable()
        } catch {
            Program.end("vestibule load: \(error)", code: EX_USAGE)
        }
        let console = LoadConsole()
        let signals = ShutdownSignals()
        let report: RunReport
        do {
            report = try await LoadRun(plan: plan, console: console).run(until: signals)
        } catch let failure as CallFailure {
            console.finish()
            Program.end("vestibule load: cannot prepare: \(failure.code) \(failure.reason)", code: 1)
        } catch {
            console.finish()
            Program.end(error, program: "vestibule load")
        }
        print(SummaryTable.text(report), terminator: "")
        do {
            try files.write(report)
        } catch {
            Program.end(error, program: "vestibule load")
        }
        print("\nwritten to \(files.json) and \(files.html)")
        Program.end(nil, code: report.errorCount > errorsMax ? 1 : 0)
    }

    private func makePlan() throws -> LoadPlan {
        let configuration = file.loadConfiguration()
        var plan = LoadPlan(
            scenario: scenario,
            target: try place.target(configuration),
            simulatorURL: place.simulatorURL(configuration)
        )
        plan.clientID = place.clientID
        amount.apply(to: &plan)
        let refused = AllowedHosts(named: place.allow).refused(by: plan)
        guard refused.isEmpty else {
            let options = refused.map { $0.isEmpty ? "a URL such as http://host:port" : "--allow \($0)" }
            throw ValidationError(
                "only this machine may be put under load; use \(options.joined(separator: " "))"
            )
        }
        return plan
    }
}

extension Scenario: ExpressibleByArgument {}
