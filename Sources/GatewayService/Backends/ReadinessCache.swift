import API
import RPC

/// The services' recent answers about their readiness. They are cached because any client may ask the gateway, and each answer
/// would be a call to every service.
actor ReadinessCache {
    /// Whether a service takes calls.
    struct Answer: Sendable, Hashable {
        let name: String
        let isServing: Bool
    }

    /// The readiness of the gateway.
    struct Readiness: Sendable, Hashable {
        let services: [Answer]
        /// Whether requests may be sent here: every service takes calls, and the gateway isn't being stopped.
        let isReady: Bool
    }

    /// How long each service may take to say so, unless somebody gives it more.
    static let wait = Duration.seconds(1)
    /// How long an answer is given again.
    static let lifetime = Duration.milliseconds(250)

    /// How long each service may take to say so.
    nonisolated let wait: Duration
    private let probes: [Backends.Probe]
    private let now: @Sendable () -> ContinuousClock.Instant
    private var kept: (answers: [Answer], until: ContinuousClock.Instant)?
    private var asking: Task<[Answer], Never>?
    private var isStopping = false

    init(
        _ probes: [Backends.Probe],
        wait: Duration = ReadinessCache.wait,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.probes = probes
        self.wait = wait
        self.now = now
    }

    /// From now on the gateway is not ready, whatever the services say: load balancers shall leave it before it ends.
    func beginDrain() { isStopping = true }

    /// Whether the gateway is ready, as ``answers(_:)`` and ``beginDrain()`` have it.
    func readiness(_ options: CallOptions) async -> Readiness {
        let services = await answers(options)
        return Readiness(services: services, isReady: !isStopping && services.allSatisfy(\.isServing))
    }

    /// What each service said. Many who ask at once share the calls, which are made with the first one's options.
    func answers(_ options: CallOptions) async -> [Answer] {
        if let kept, now() < kept.until { return kept.answers }
        if let asking { return await asking.value }
        // In a task of its own, so that the other callers get the answer if the first one is cancelled.
        let asking = Task { await ask(options) }
        self.asking = asking
        return await asking.value
    }

    private func ask(_ options: CallOptions) async -> [Answer] {
        let probes = probes
        let serving = await withTaskGroup(of: (Int, Bool).self) { group in
            for (index, probe) in probes.enumerated() {
                group.addTask { (index, await Self.isServing(probe, options)) }
            }
            return await group.reduce(into: [Int: Bool]()) { $0[$1.0] = $1.1 }
        }
        let answers = probes.indices.map { Answer(name: probes[$0].name, isServing: serving[$0] == true) }
        kept = (answers, now().advanced(by: Self.lifetime))
        asking = nil
        return answers
    }

    private static func isServing(_ probe: Backends.Probe, _ options: CallOptions) async -> Bool {
        var request = HealthV1.HealthCheckRequest()
        request.service = probe.service
        let answer = try? await probe.health.check(request, options: options)
        return answer?.status == .serving
    }
}
