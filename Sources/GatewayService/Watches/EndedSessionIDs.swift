/// Sessions that ended a moment ago, to catch a subscription that begins while the end of its session arrives. A plain value: time
/// is passed in. Two generations, each kept for at least ``kept`` and at most twice of it.
struct EndedSessionIDs {
    /// How long: longer than any request takes from the check of its session to its subscription.
    static let kept: Duration = .seconds(60)
    /// The maximum of one generation. Sessions beyond it are not caught in those moments.
    static let generationMax = 50_000

    private var newer: Set<String> = []
    private var older: Set<String> = []
    private var turnedAt: ContinuousClock.Instant

    init(now: ContinuousClock.Instant) { turnedAt = now }

    mutating func insert(_ ids: some Sequence<String>, now: ContinuousClock.Instant) {
        turn(now: now)
        for id in ids where newer.count < Self.generationMax { newer.insert(id) }
    }

    mutating func turn(now: ContinuousClock.Instant) {
        guard now - turnedAt >= Self.kept else { return }
        (older, newer, turnedAt) = (newer, [], now)
    }

    func contains(_ id: String) -> Bool { newer.contains(id) || older.contains(id) }
}
