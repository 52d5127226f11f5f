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
            Prepares accounts through the provider simulator, calls for a while, and tells rate, latencies and errors \
            in a table, in NAME.json and on the page NAME.html. Ctrl-C ends it early, with the report; a second one \
            ends it at once.

            Without --rate a closed loop: each worker calls again when it was answered. With --rate an open loop: \
            calls begin at fixed times, whether others were answered or not, and latencies count from those times.

            Status: 0; 1 if there were more errors than --errors-max, or nothing could be called; 64 for a mistake in \
            the arguments; 78 for one in the configuration; 130 after a second Ctrl-C.
            """
    )

    @Argument(help: "Which calls.")
    var scenario: Scenario
    @OptionGroup(title: "How much") var amount: LoadAmount
    @OptionGroup(title: "Where to") var place: LoadPlace

    @Option(help: ArgumentHelp("The report's files, without .json and .html.", valueName: "name"))
    var output = "vestibule-load"
    @Option(help: ArgumentHelp("Up to so many errors are a success.", valueName: "count"))
    var errorsMax = 0
    @OptionGroup var file: ConfigurationFileOption

    func validate() throws {
        try amount.validate()
        guard amount.sessions == nil || scenario.takesSessions else {
            let fitting = Scenario.allCases.filter(\.takesSessions).map(\.rawValue)
            throw ValidationError("--sessions goes with \(fitting.joined(separator: ", "))")
        }
        guard amount.firstPhone == nil || scenario == .claimPhone else {
            throw ValidationError("--first-phone goes with \(Scenario.claimPhone.rawValue)")
        }
        guard errorsMax >= 0 else { throw ValidationError("--errors-max is 0 or more") }
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
                "only this machine is put under load, unless a host is named: \(options.joined(separator: " "))"
            )
        }
        return plan
    }
}

extension Scenario: ExpressibleByArgument {}
