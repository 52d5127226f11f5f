import ArgumentParser
import Load
import ServiceKit

/// The options of `load` about the amount of calls.
struct LoadAmount: ParsableArguments {
    @Option(help: ArgumentHelp("The length of the measured time, such as 30s or 5m.", valueName: "time"))
    var duration = LoadTime(.seconds(10))
    @Option(help: ArgumentHelp("The length of the warm-up before it.", valueName: "time"))
    var warmUp = LoadTime(.seconds(2))
    @Option(
        help: ArgumentHelp(
            "The number of workers, and so of calls in flight. (default: 32, with --rate 256)",
            valueName: "count"
        )
    )
    var workers: Int?
    @Option(help: ArgumentHelp("Make an open loop with this number of calls per second.", valueName: "count"))
    var rate: Int?
    @Option(
        help: ArgumentHelp(
            "Connections to each address, a multiple of the threads. (default: 4, with --edge one per worker)",
            valueName: "count"
        )
    )
    var connections: Int?
    @Option(help: ArgumentHelp("The number of threads that make calls.", valueName: "count"))
    var threads = 1
    @Option(help: ArgumentHelp("Accounts to prepare. (default: one per worker)", valueName: "count"))
    var accounts: Int?
    @Option(
        help: ArgumentHelp(
            """
            Use the sessions in this file, without sign-ins. Each line has the access token, and for scenarios that \
            refresh a space and the refresh token.
            """,
            valueName: "file"
        )
    )
    var sessions: String?
    @Option(
        help: ArgumentHelp(
            "The first phone number of claim-phone, E.164 without the plus. (default: random)",
            valueName: "number"
        )
    )
    var firstPhone: Int64?
    @Option(
        help: ArgumentHelp(
            """
            Provider tokens to prepare for sign-ins; when they are used up, more are fetched during the run. \
            (default: with --rate as many as needed, else 2000)
            """,
            valueName: "count"
        )
    )
    var tokens: Int?
    @Flag(help: "Also send the provider's code with each sign-in: identity exchanges it after its response.")
    var codes = false
    @Option(
        help: ArgumentHelp("The maximum of waiting calls in an open loop; more are errors.", valueName: "count")
    )
    var queue = 10_000
    @Option(help: ArgumentHelp("The timeout of a call.", valueName: "time"))
    var timeout = LoadTime(.seconds(5))

    private var workerCount: Int { workers ?? (rate == nil ? 32 : 256) }

    func validate() throws {
        try Self.check("--workers", workers, 1...LoadPlan.workersMax)
        try Self.check("--rate", rate, 1...ArrivalSchedule.rateMax)
        try Self.check("--connections", connections, 1...LoadPlan.connectionsMax)
        try Self.check("--threads", threads, 1...LoadPlan.threadsMax)
        try Self.check("--accounts", accounts, workerCount...LoadPlan.preparedMax)
        try Self.check("--tokens", tokens, 0...LoadPlan.preparedMax)
        try Self.check("--queue", queue, 1...LoadPlan.preparedMax)
        guard sessions == nil || accounts == nil else {
            throw ValidationError("--accounts can't be used with --sessions: the file decides the number of accounts")
        }
        if let firstPhone, !PhoneSequence.numbers.contains(firstPhone) {
            let range = PhoneSequence.numbers
            throw ValidationError("--first-phone must be from \(range.lowerBound) to \(range.upperBound)")
        }
        guard workerCount >= threads else { throw ValidationError("--workers must be at least the number of threads") }
        let times = [("--duration", duration.value), ("--timeout", timeout.value)]
        for (name, value) in times + [("--warm-up", warmUp.value)] where value > LoadPlan.durationMax {
            throw ValidationError("\(name) must be at most 1d")
        }
        for (name, value) in times where value <= .zero { throw ValidationError("\(name) must be more than 0") }
    }

    private static func check(_ name: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
        guard let value, !range.contains(value) else { return }
        throw ValidationError("\(name) must be from \(range.lowerBound) to \(range.upperBound)")
    }

    func apply(to plan: inout LoadPlan) {
        plan.ratePerSecond = rate
        plan.workerCount = workerCount
        if case .edge = plan.target { plan.connectionCount = min(workerCount, LoadPlan.connectionsMax) }
        if let connections { plan.connectionCount = connections }
        plan.threadCount = threads
        plan.accountCount = accounts ?? workerCount
        plan.sessionsFile = sessions
        plan.firstPhone = firstPhone
        plan.sendsCodes = codes
        plan.queueMax = queue
        plan.warmUp = warmUp.value
        plan.duration = duration.value
        plan.timeout = timeout.value
        let needed = plan.tokenCountNeeded
        plan.tokenCount = needed == 0 ? 0 : tokens ?? needed
    }
}

/// A time, as in the configuration: a number and `ms`, `s`, `m`, `h` or `d`.
struct LoadTime: ExpressibleByArgument {
    let value: Duration

    init(_ value: Duration) { self.value = value }

    init?(argument: String) {
        guard let value = DurationText.parse(argument) else { return nil }
        self.value = value
    }

    var defaultValueDescription: String { DurationText.format(value) }
}
