import Glibc
import OutgoingHTTP
import RPCTransport
import ServiceKit

/// A whole run: prepares, calls, and reports.
public struct LoadRun: Sendable {
    /// The time between the last preparation and the first call, so that all threads are ready.
    private static let settleNanoseconds: UInt64 = 50_000_000

    private let plan: LoadPlan
    private let console: LoadConsole

    /// A run of a plan, whose hosts the caller has checked.
    public init(plan: LoadPlan, console: LoadConsole) {
        self.plan = plan
        self.console = console
    }

    /// Runs to the end, or until the first signal. Throws `LoadError`, `TransportError` or `CallFailure` if no call could be
    /// made; later errors are counted in the report.
    public func run(until signals: ShutdownSignals) async throws -> RunReport {
        try await withEventLoopGroup(loopCount: plan.threadCount, name: "load") { group in
            try await run(group, Self.httpClient(plan, group), until: signals)
        }
    }

    /// An HTTP client for the gateway and the simulator. Without a proxy, so that only the server is measured.
    private static func httpClient(_ plan: LoadPlan, _ group: EventLoopGroup) -> HTTPSClient {
        var limits = HTTPSClient.Limits()
        limits.requestsMax = LoadPlan.workersMax
        limits.connectionsPerHostMax = plan.connectionsPerThread * plan.threadCount
        limits.connectionsMax = 2 * limits.connectionsPerHostMax
        // Workers share no connections, like phones.
        return HTTPSClient(userAgent: "vestibule-load", group: group, limits: limits, speaksHTTP2: false)
    }

    private func run(
        _ group: EventLoopGroup,
        _ http: HTTPSClient,
        until signals: ShutdownSignals
    ) async throws -> RunReport {
        switch plan.target {
        case .grpc:
            let channels = try GRPCChannels(plan, group: group)
            // Workers are assigned to loops in turn, and to the connections of each loop.
            let targets = (0..<plan.workerCount).map {
                channels.target($0 / plan.threadCount, timeout: plan.timeout)
            }
            return try await run(group, http, targets, until: signals)
        case .edge(let url):
            let target = EdgeTarget(client: JSONClient(http, base: url, timeout: plan.timeout))
            let targets = Array(repeating: target, count: plan.workerCount)
            return try await run(group, http, targets, until: signals)
        }
    }

    /// - Parameter targets: one per worker.
    private func run(
        _ group: EventLoopGroup,
        _ http: HTTPSClient,
        _ targets: [any Target],
        until signals: ShutdownSignals
    ) async throws -> RunReport {
        let source = SimulatorTokens(
            simulator: JSONClient(http, base: plan.simulatorURL, timeout: plan.timeout),
            clientID: plan.clientID,
            sendsCodes: plan.sendsCodes
        )
        let preparation = Preparation(plan: plan, source: source, target: targets[0], console: console)
        let (accounts, proofs) = try await prepare(preparation, until: signals)
        return try await call(group, targets: targets, source: source, accounts, proofs, until: signals)
    }

    private func prepare(
        _ preparation: Preparation,
        until signals: ShutdownSignals
    ) async throws -> ([Account], [ProviderProof]) {
        try await withThrowingTaskGroup(of: ([Account], [ProviderProof])?.self) { group in
            group.addTask {
                let accounts = try await preparation.accounts()
                return (accounts, try await preparation.proofs(accounts))
            }
            group.addTask {
                await signals.first()
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let prepared = first else {
                throw LoadError("interrupted before the first call")
            }
            return prepared
        }
    }

    private func call(
        _ group: EventLoopGroup,
        targets: [any Target],
        source: any TokenSource,
        _ accounts: [Account],
        _ proofs: [ProviderProof],
        until signals: ShutdownSignals
    ) async throws -> RunReport {
        let times = RunTimes(plan, start: MonotonicTime.nanoseconds + Self.settleNanoseconds)
        let count = plan.threadCount
        let firstPhone = plan.firstPhone ?? PhoneSequence.randomFirst()
        let lanes = group.loops.map { loop in
            Lane(
                loop: loop,
                times: times,
                arrivals: arrivals(loop.index, times),
                scenario: plan.scenario,
                accounts: stride(from: loop.index, to: accounts.count, by: count).map { accounts[$0] },
                proofs: stride(from: loop.index, to: proofs.count, by: count).map { proofs[$0] },
                phones: PhoneSequence(first: firstPhone, lane: loop.index, of: count)
            )
        }
        for lane in lanes { try await lane.loop.run { try lane.start() } }
        let watch = RunWatch(plan: plan, lanes: lanes, times: times, console: console)
        async let watched = watch.run()
        let stopper = Task {
            await signals.first()
            // A cancelled sleep means that the run has ended.
            if signals.wasReceived { await watch.stop() }
        }
        await work(lanes, targets: targets, source: source, start: times.start)
        stopper.cancel()
        await watch.workersEnded()
        return await watched
    }

    private func arrivals(_ index: Int, _ times: RunTimes) -> ArrivalQueue? {
        guard let rate = plan.ratePerSecond else { return nil }
        return ArrivalQueue(
            schedule: ArrivalSchedule(
                ratePerSecond: rate,
                startNanoseconds: times.start,
                share: index,
                shareCount: plan.threadCount
            ),
            countMax: max(1, plan.queueMax / plan.threadCount),
            measureFromNanoseconds: times.measureFrom,
            endNanoseconds: times.end
        )
    }

    /// Runs the workers, each on its lane's loop, until all have ended.
    private func work(
        _ lanes: [Lane],
        targets: [any Target],
        source: any TokenSource,
        start: UInt64
    ) async {
        let now = MonotonicTime.nanoseconds
        if start > now { try? await Task.sleep(for: .nanoseconds(start - now)) }
        await withTaskGroup(of: Void.self) { group in
            for (number, target) in targets.enumerated() {
                let worker = Worker(
                    lane: lanes[number % lanes.count],
                    target: target,
                    source: source,
                    pausesAfterErrors: plan.ratePerSecond == nil
                )
                group.addTask(executorPreference: worker.lane.loop) { await worker.run() }
            }
        }
    }
}
