import RPC

/// Resolves a channel's names, once for all its loops, and tells each loop's part what it found. Works on one of the
/// loops; what is of others is handed over.
///
/// Addresses in digits are never asked for. A name that has no address for the moment keeps those that it had.
final class ChannelResolver: @unchecked Sendable {
    // Sound because what changes is touched on the home loop's thread only, which each entry checks or goes to.

    private let home: EventLoop
    private let target: ChannelTarget
    private let resolver: any NameResolver
    private var schedule: ResolutionSchedule
    private var found: [[String]]
    private var timer: LoopTimer?
    private var isClosed = false
    /// Called on the home loop with all addresses, or with none and the reason.
    private let onResult: (Result<[Endpoint], RPCError>) -> Void

    init(
        home: EventLoop,
        target: ChannelTarget,
        configuration: ChannelConfiguration,
        onResult: @escaping (Result<[Endpoint], RPCError>) -> Void
    ) {
        self.home = home
        self.target = target
        resolver = configuration.resolver
        schedule = ResolutionSchedule(
            intervalMin: configuration.resolutionIntervalMin,
            interval: configuration.resolutionInterval
        )
        found = target.parts.map { _ in [] }
        self.onResult = onResult
    }

    /// The addresses of a target that has no names; nil if it has some.
    static func endpointsInDigits(_ target: ChannelTarget) -> [Endpoint]? {
        var endpoints: [Endpoint] = []
        for part in target.parts {
            guard let address = SystemNameResolver.address(inDigits: part.host) else { return nil }
            endpoints.append(Endpoint(address: address, target: part))
        }
        return endpoints
    }

    /// Asks for a resolution, now or as soon as the interval allows. Any thread.
    func ask() {
        home.execute { [self] in perform(schedule.ask(now: home.nowNanoseconds)) }
    }

    private func perform(_ action: ResolutionSchedule.Action) {
        home.preconditionIsCurrent()
        guard !isClosed else { return }
        switch action {
        case .nothing: return
        case .wait(let time):
            timer?.cancel()
            let now = home.nowNanoseconds
            let wait: Duration = time > now ? .nanoseconds(Int64(clamping: time - now)) : .zero
            timer = home.schedule(after: wait) { [weak self] in
                guard let self else { return }
                timer = nil
                perform(schedule.arrived(now: home.nowNanoseconds))
            }
        case .resolve: resolve()
        }
    }

    private func resolve() {
        timer?.cancel()
        timer = nil
        let (parts, resolver, home) = (target.parts, resolver, home)
        Task { [weak self] in
            var answers: [[String]] = []
            for part in parts {
                if let digits = SystemNameResolver.address(inDigits: part.host) {
                    answers.append([digits])
                } else {
                    answers.append(await resolver.addresses(of: part.host))
                }
            }
            home.execute { [weak self, answers] in self?.finished(answers) }
        }
    }

    private func finished(_ answers: [[String]]) {
        guard !isClosed else { return }
        let isComplete = !answers.contains { $0.isEmpty }
        for (index, answer) in answers.enumerated() where !answer.isEmpty { found[index] = answer }
        let endpoints = zip(target.parts, found).flatMap { part, addresses in
            addresses.map { Endpoint(address: $0, target: part) }
        }
        if endpoints.isEmpty {
            let names = target.parts.map(\.host).joined(separator: ", ")
            onResult(.failure(RPCError(.unavailable, "the name \(names) has no address", cause: CallNotSent())))
        } else {
            onResult(.success(endpoints))
        }
        perform(schedule.finished(now: home.nowNanoseconds, isComplete: isComplete))
    }

    /// Resolves nothing more. Home loop.
    func close() {
        home.preconditionIsCurrent()
        isClosed = true
        timer?.cancel()
        timer = nil
    }
}
