import IdentityDomain
import Postgres

@testable import IdentityService

/// One history of a session, from a seed: a phone that keeps its contract and loses 30 % of all answers, two replicas that
/// crash, and in some histories a thief, in others a database that is restored to an older state.
///
/// The contract: the phone stores its tokens before it uses them, has one refresh in flight at a time, and repeats a refresh
/// whose answer was lost with the same token. Between two refreshes it sleeps for 29 days at most.
struct SessionHistory {
    enum Kind: String, CaseIterable { case honest, restored, thief }

    /// The behavior of a thief.
    enum Thief: String, CaseIterable {
        /// Uses the stolen tokens at once, and continues.
        case atOnce
        /// Waits for hours first.
        case late
        /// Refreshes as often as the phone does, and never uses an access token.
        case silent
    }

    /// The tokens of a holder: the newest ones' number, and when they were obtained.
    struct Holder {
        var number: UInt32
        /// When the holder got them: the access token lives for ten minutes from then.
        var obtainedAt: Int64
        /// All that it ever stored, oldest first.
        var earlier: [UInt32] = []
    }

    /// A description of what went wrong.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    /// Counts of what happened.
    struct Counts {
        var refreshes = 0
        var lostAnswers = 0
        var restores = 0
        var crashes = 0
        var thieves = 0
        var foundThieves = 0

        static func += (left: inout Counts, right: Counts) {
            left.refreshes += right.refreshes
            left.lostAnswers += right.lostAnswers
            left.restores += right.restores
            left.crashes += right.crashes
            left.thieves += right.thieves
            left.foundThieves += right.foundThieves
        }
    }

    static let millisecondsOfDay: Int64 = 86_400_000
    static let accessTokenMilliseconds: Int64 = 600_000
    /// A replica keeps unwritten uses no longer than this: it writes within milliseconds, and drops what it can't write.
    static let unwrittenMillisecondsMax: Int64 = 10_000

    let kind: Kind
    var counts = Counts()
    private(set) var steps: [String] = []
    private var random: SeededNumbers
    private let server: SessionServer
    private let graceMilliseconds: Int64
    private let endsAt: Int64
    private var now: Int64
    private var phone: Holder
    private var thief: Holder?
    private var thiefKind = Thief.atOnce
    private var backup: SessionServer.Backup?
    /// When the server last renewed the inactivity clock for the phone.
    private var renewedAt: Int64
    /// For which number each one was issued.
    private var parents: [UInt32: UInt32] = [:]
    /// The last use stored in the row since there is a thief: which holder, which number, and when.
    private var lastUse: (isPhone: Bool, number: UInt32, at: Int64)?
    /// The uses of access tokens that each replica has seen and not yet written, in order.
    private var unwrittenUses: [[(isPhone: Bool, number: UInt32)]] = [[], []]

    init(seed: UInt64, store: IdentityStore) async throws {
        random = SeededNumbers(seed: seed)
        now = 1_700_000_000_000
        graceMilliseconds = store.limits.refreshGraceSeconds * 1000
        endsAt = now + store.limits.absoluteSeconds * 1000
        kind = Kind.allCases[Int(seed % 3)]
        server = try await SessionServer(store, at: now, &random)
        renewedAt = now
        phone = Holder(number: 0, obtainedAt: now)
    }

    /// Runs the history, and throws a ``Violation`` if the session did something forbidden.
    mutating func run() async throws {
        let stepCount = Int.random(in: 10...60, using: &random)
        let theftAt = kind == .thief ? Int.random(in: 1..<stepCount, using: &random) : -1
        for step in 0..<stepCount {
            if step == theftAt { try await steal() } else { try await liveOn() }
            if try await server.isEnded() { return try judgeEnd() }
            // No session lives longer than its absolute limit; the remaining time must suffice for the end.
            if now > endsAt - 60 * Self.millisecondsOfDay { break }
        }
        try await settle()
    }

    private mutating func note(_ text: String) { steps.append("\(now - 1_700_000_000_000) \(text)") }

    // MARK: Events

    private mutating func liveOn() async throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<7: try await refreshPhone()
        case 7..<12: try await usePhone()
        case 12..<14: try await pass(Int64.random(in: 0...90_000, using: &random))
        case 14: try await pass(Int64.random(in: 0...(29 * Self.millisecondsOfDay), using: &random))
        case 15..<17:
            try await write(Int.random(in: 0..<2, using: &random))
        case 17:
            crash(Int.random(in: 0..<2, using: &random))
            counts.crashes += 1
            note("a replica crashes")
        case 18 where kind == .restored: try await restoreOrBackUp()
        default:
            if thief != nil { return try await actAsThief() }
            try await pass(Int64.random(in: 0...5_000, using: &random))
        }
    }

    /// Advances the clock, but never so far that the phone would have been away for too long. Long sleeps end a day before the
    /// session's absolute limit, which leaves room for the minutes that follow.
    private mutating func pass(_ milliseconds: Int64) async throws {
        if milliseconds > Self.unwrittenMillisecondsMax {
            for replica in 0..<2 {
                if random.oneIn(3) { crash(replica) } else { try await write(replica) }
            }
        }
        var latest = renewedAt + 29 * Self.millisecondsOfDay
        if milliseconds > Self.millisecondsOfDay { latest = min(latest, endsAt - Self.millisecondsOfDay) }
        let end = min(now + milliseconds, max(now, latest))
        now = end
        note("time passes")
    }

    /// The phone refreshes until it has an answer: it can't know whether the request or the answer was lost.
    private mutating func refreshPhone() async throws {
        // A write that a replica does while time passes may end the session.
        while try await !server.isEnded() {
            let presentedAt = now
            counts.refreshes += 1
            // A gateway that retried at another replica may have made a copy of the call; nobody reads its answer.
            let hasCopy = random.oneIn(5)
            let isLostBefore = random.oneIn(7)
            var answer: UInt32?
            if !isLostBefore { answer = try await present(phone.number, presentedAt: presentedAt, isPhone: true) }
            if hasCopy, try await !server.isEnded() {
                now += Int64.random(in: 0...14_000, using: &random)
                // A late call does no harm; everything else counts as the first one would.
                let copied = try await present(phone.number, presentedAt: presentedAt, isPhone: true, isCopy: true)
                if answer == nil { answer = copied }
            }
            if try await server.isEnded() { return }
            if random.oneIn(6) { answer = nil }
            if let answer {
                if answer != phone.number { phone.earlier.append(phone.number) }
                phone.number = answer
                phone.obtainedAt = now
                note("the phone has \(answer)")
                return
            }
            counts.lostAnswers += 1
            note("the phone got no answer")
            let pauses: [Int64] = [1_000, 20_000, 40_000, 3_600_000, 20 * Self.millisecondsOfDay]
            try await pass(pauses.randomElement(using: &random) ?? 0)
        }
    }

    private mutating func usePhone() async throws {
        if now >= phone.obtainedAt + Self.accessTokenMilliseconds { return try await refreshPhone() }
        try await use(phone.number, isPhone: true, isWritten: random.oneIn(2))
    }

    private mutating func use(_ number: UInt32, isPhone: Bool, isWritten: Bool) async throws {
        let replica = Int.random(in: 0..<2, using: &random)
        let use = try await server.use(number, at: replica, now: now)
        note("\(isPhone ? "the phone" : "the thief") uses \(number): \(use)")
        guard case .passed(let tells) = use else { return }
        if tells { unwrittenUses[replica].append((isPhone, number)) }
        if isWritten { try await write(replica) }
    }

    /// A replica writes the uses it has seen; of two that exclude each other the first one seen counts.
    private mutating func write(_ replica: Int) async throws {
        try await server.write(replica, now: now)
        note("replica \(replica) writes")
        let uses = unwrittenUses[replica]
        unwrittenUses[replica] = []
        for use in uses { try await used(use.number, isPhone: use.isPhone) }
    }

    private mutating func crash(_ replica: Int) {
        server.crash(replica)
        unwrittenUses[replica] = []
    }

    private mutating func present(
        _ number: UInt32,
        presentedAt: Int64,
        isPhone: Bool,
        isCopy: Bool = false
    ) async throws -> UInt32? {
        let (verdict, next) = try await server.refresh(number, presentedAt: presentedAt, now: now)
        let who = isPhone ? isCopy ? "a copy of the call" : "the phone" : "the thief"
        note("\(who) presents \(number): \(verdict) \(next.map { "\($0)" } ?? "")")
        if verdict.fault == nil { renewedAt = now }
        if verdict == .reused || isCopy && verdict == .late { return nil }
        if verdict.fault != nil {
            throw Violation(description: "\(who) got \(verdict)")
        }
        if let next, verdict != .joined { parents[next] = number }
        // A caller that joins has the other's tokens from then on.
        if verdict != .joined { try await used(number, isPhone: isPhone) }
        return next
    }

    private mutating func restoreOrBackUp() async throws {
        if let taken = backup, now - taken.takenAt <= Self.millisecondsOfDay / 2 {
            try await server.restore(taken)
            unwrittenUses = [[], []]
            backup = nil
            // The restored row's record of the phone's last use is as old as the backup.
            renewedAt = taken.times[0]?.milliseconds ?? renewedAt
            counts.restores += 1
            note("the database is put back")
        } else {
            backup = try await server.backup(now: now)
            note("a backup is taken")
        }
    }

    // MARK: Thieves

    private mutating func steal() async throws {
        counts.thieves += 1
        thiefKind = Thief.allCases.randomElement(using: &random) ?? .atOnce
        let takesOlder = !phone.earlier.isEmpty && random.oneIn(3)
        let number = takesOlder ? phone.earlier.randomElement(using: &random) ?? 0 : phone.number
        thief = Holder(number: number, obtainedAt: takesOlder ? 0 : phone.obtainedAt)
        note("a thief (\(thiefKind)) takes \(number)")
        lastUse = nil
        if thiefKind == .late { try await pass(Int64.random(in: 0...(5 * 3_600_000), using: &random)) }
        if thiefKind == .atOnce { try await actAsThief() }
    }

    private mutating func actAsThief() async throws {
        guard let holder = thief, try await !server.isEnded() else { return }
        if thiefKind != .silent, now < holder.obtainedAt + Self.accessTokenMilliseconds, random.oneIn(2) {
            return try await use(holder.number, isPhone: false, isWritten: true)
        }
        try await refreshThief()
    }

    private mutating func refreshThief() async throws {
        guard var holder = thief, try await !server.isEnded() else { return }
        guard let next = try await present(holder.number, presentedAt: now, isPhone: false) else { return }
        if next != holder.number { holder.earlier.append(holder.number) }
        holder.number = next
        holder.obtainedAt = now
        thief = holder
    }

    /// A number was used and stored in the row. If the other holder used one before that doesn't lead to it, two hold tokens
    /// that exclude each other: outside the grace period this use must have ended the session.
    private mutating func used(_ number: UInt32, isPhone: Bool) async throws {
        guard thief != nil else { return }
        // A use that is written late and leads to the last one shows nothing new.
        if let use = lastUse, isAncestor(number, of: use.number) { return }
        if let use = lastUse, use.isPhone != isPhone, use.number != number, !isAncestor(use.number, of: number) {
            if now <= use.at + graceMilliseconds { return }
            if try await server.isEnded() { return }
            throw Violation(
                description: "\(isPhone ? "the phone" : "the thief") used \(number) \(now - use.at) ms after the other "
                    + "used \(use.number), and nobody noticed"
            )
        }
        lastUse = (isPhone, number, now)
    }

    private func isAncestor(_ number: UInt32, of other: UInt32) -> Bool {
        var other = other
        while let parent = parents[other] {
            if parent == number { return true }
            other = parent
        }
        return false
    }

    // MARK: The end

    private mutating func judgeEnd() throws {
        guard thief != nil else { throw Violation(description: "an honest phone was signed out") }
        counts.foundThieves += 1
    }

    /// Each holder that is left refreshes once more, well apart. This finds a thief who has tokens of the session.
    private mutating func settle() async throws {
        for replica in 0..<2 { try await write(replica) }
        for _ in 0..<3 {
            if try await server.isEnded() { return try judgeEnd() }
            try await pass(60_000)
            try await refreshPhone()
            if try await server.isEnded() { return try judgeEnd() }
            guard thief != nil else { continue }
            try await pass(60_000)
            try await refreshThief()
        }
        if try await server.isEnded() { return try judgeEnd() }
        if thief != nil { throw Violation(description: "the thief is still there: \(try await server.describe())") }
    }
}
