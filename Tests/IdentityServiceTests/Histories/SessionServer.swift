import IdentityDomain
import Models
import Postgres
import ServiceModels

@testable import IdentityService

/// Numbers out of a seed, the same on every run (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }

    /// True once in so many.
    mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}

/// What is left of identity in a history: the row of one session in the real database, and two replicas, each with first uses of
/// tokens that it has not written down yet.
final class SessionServer {
    private let store: IdentityStore
    private let sessionID: SessionID
    private let userID: UserID
    private let nonce: [UInt8]
    private var unwritten: [[NumberSeen]] = [[], []]

    /// A session that was begun just now.
    init(_ store: IdentityStore, at now: Int64, _ random: inout SeededNumbers) async throws {
        self.store = store
        sessionID = SessionID(high: random.next(), low: random.next())
        userID = UserID(high: random.next(), low: random.next())
        var nonce: [UInt8] = []
        for _ in 0..<16 { nonce.append(UInt8.random(in: 0...255, using: &random)) }
        self.nonce = nonce
        let time = PostgresTimestamp(milliseconds: now)
        let end = PostgresTimestamp(milliseconds: now + store.limits.absoluteSeconds * 1000)
        try await store.database.execute(
            """
            WITH account AS (INSERT INTO accounts (user_id, created_at) VALUES (\(userID.uuid), \(time)))
            INSERT INTO sessions (
                session_id, user_id, provider, client_id, opened_account, nonce, proof, created_at, last_used_at,
                expires_at)
            VALUES (\(sessionID.uuid), \(userID.uuid), 'apple', 'app', true, \(nonce), 'nonce', \(time), \(time), \(end))
            """
        )
    }

    /// A refresh by one of the replicas: the number that is handed out, or nil with the reason.
    func refresh(
        _ number: UInt32,
        presentedAt: Int64,
        now: Int64
    ) async throws -> (verdict: RefreshVerdict, number: UInt32?) {
        let token = RefreshToken(sessionID: sessionID, number: number, nonce: nonce)
        let (verdict, session) = try await store.refresh(
            token,
            ofClient: nil,
            key: nil,
            presentedAtMilliseconds: presentedAt,
            nowMilliseconds: now,
            deadline: nil
        )
        return (verdict, verdict.fault == nil ? session?.number : nil)
    }

    /// What an access token comes to at a replica.
    enum Use {
        /// It is let pass. Whether it says that its number was received, and isn't one from before.
        case passed(tells: Bool)
        case refused
    }

    /// The use of an access token at a replica.
    func use(_ number: UInt32, at replica: Int, now: Int64) async throws -> Use {
        let claims = AccessClaims(
            userID: userID,
            sessionID: sessionID,
            number: number,
            expiresAtSeconds: now / 1000 + 600,
            audience: ""
        )
        do {
            let alive = try await store.aliveSession(
                of: claims,
                sessionsFrom: PostgresTimestamp(microsecondsSince1970: .min),
                nowMilliseconds: now,
                deadline: nil
            )
            guard alive.received.use(of: number) == .known else {
                unwritten[replica].append(NumberSeen(sessionID: sessionID, number: number))
                return .passed(tells: true)
            }
            return .passed(tells: Int64(number) == alive.received.base)
        } catch is IdentityError {
            return .refused
        }
    }

    /// A replica writes down what it has seen, in the order in which it saw it.
    func write(_ replica: Int, now: Int64) async throws {
        let seen = unwritten[replica]
        unwritten[replica] = []
        for one in seen { _ = try await store.acknowledge([one], nowMilliseconds: now) }
    }

    /// A replica dies with what it has not written.
    func crash(_ replica: Int) { unwritten[replica] = [] }

    /// A row as a backup has it.
    struct Backup {
        let takenAt: Int64
        let generation: Int64
        let numbers: [Int64?]
        let times: [PostgresTimestamp?]
    }

    func backup(now: Int64) async throws -> Backup {
        let row = try await store.database.query(
            """
            SELECT generation, base, previous, first_child, last_used_at, rotated_at, acknowledged_at FROM sessions
            WHERE session_id = \(sessionID.uuid)
            """
        )[0]
        return Backup(
            takenAt: now,
            generation: try row.decode(0),
            numbers: [try row.decode(1), try row.decode(2), try row.decode(3)],
            times: [try row.decode(4), try row.decode(5), try row.decode(6)]
        )
    }

    /// Puts a backup back: what came after it is forgotten.
    func restore(_ backup: Backup) async throws {
        let (numbers, times) = (backup.numbers, backup.times)
        unwritten = [[], []]
        try await store.database.execute(
            """
            UPDATE sessions SET generation = \(backup.generation), base = \(numbers[0]), previous = \(numbers[1]),
                first_child = \(numbers[2]), last_used_at = \(times[0]), rotated_at = \(times[1]),
                acknowledged_at = \(times[2])
            WHERE session_id = \(sessionID.uuid)
            """
        )
    }

    /// Whether the session was ended, and not by itself.
    func isEnded() async throws -> Bool {
        let rows = try await store.database.query(
            "SELECT revoked_at IS NOT NULL FROM sessions WHERE session_id = \(sessionID.uuid)"
        )
        return try rows[0].decode(0, as: Bool.self)
    }

    /// The row's numbers, for a failure's message.
    func describe() async throws -> String {
        try await store.database.query(
            """
            SELECT format('base %s, previous %s, first child %s, generation %s', base, previous, first_child, generation)
            FROM sessions WHERE session_id = \(sessionID.uuid)
            """
        )[0].decode(0, as: String.self)
    }
}
