import Models
import Postgres
import ProfileDomain
import ServiceModels

/// Numbers that were given up a while ago: others can't type them for some time, and whoever typed one loses by a proof what they had by it.
extension ProfileStore {
    /// For how long it is known who typed a number that was given up, beyond the time in which others can't type it. Less than a number
    /// is left alone before another person has it: the proof of that one is no word against the one before.
    static let typistMilliseconds: Int64 = 30 * 86_400_000

    /// Writes down that the user of a profile, which is locked, gives their number up; for a typed one also where nobody waits for it.
    ///
    /// - Parameter waitMilliseconds: for how long others can't type it; nil for as long as the policy says.
    func coolDown(
        _ profile: Profile,
        waitMilliseconds: Int64? = nil,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        let waitMilliseconds = waitMilliseconds ?? limits.coolDownMilliseconds
        guard let phone = profile.phone, waitMilliseconds > 0 || !profile.isPhoneProven else { return }
        try await transaction.execute(
            """
            INSERT INTO phone_cool_downs (phone, user_id, until, was_proven)
            VALUES (\(phone.digits), \(profile.userID.uuid),
                \(PostgresTimestamp(milliseconds: nowMilliseconds + waitMilliseconds)), \(profile.isPhoneProven))
            ON CONFLICT (phone) DO UPDATE SET user_id = excluded.user_id, until = excluded.until, was_proven = excluded.was_proven
            """
        )
    }

    /// Writes down that a number had been proven to be the user's who gave it up since: nobody else's proof takes what they had by it.
    func prove(formerNumberOf claim: ProvenPhone, in transaction: PostgresTransaction) async throws {
        try await transaction.execute(
            """
            UPDATE phone_cool_downs SET was_proven = true
            WHERE phone = \(claim.phone.digits) AND user_id = \(claim.userID.uuid)
            """
        )
    }

    /// The last other user who typed a number and gave it up a while ago; nil if none did, or if it had been proven to be theirs.
    func earlierTypist(
        of claim: ProvenPhone,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> UserID? {
        let row = try await transaction.query(
            """
            SELECT user_id FROM phone_cool_downs
            WHERE phone = \(claim.phone.digits) AND user_id <> \(claim.userID.uuid) AND NOT was_proven
                AND until > \(Self.typedSince(nowMilliseconds))
            """
        ).first
        return try row.map { UserID(try $0.decode(0, as: PostgresUUID.self)) }
    }

    /// The end of the waiting time of typed numbers after which it is known no more who typed them.
    static func typedSince(_ nowMilliseconds: Int64) -> PostgresTimestamp {
        PostgresTimestamp(milliseconds: nowMilliseconds - typistMilliseconds)
    }

    /// Forgets numbers that anybody may take again and nobody loses any more, at most `limit` of each kind, and tells how many.
    func forgetCoolDowns(nowMilliseconds: Int64, limit: Int) async throws -> Int {
        let proven = try await database.execute(
            """
            DELETE FROM phone_cool_downs WHERE phone IN (
                SELECT phone FROM phone_cool_downs
                WHERE was_proven AND until <= \(PostgresTimestamp(milliseconds: nowMilliseconds))
                ORDER BY until LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
        let typed = try await database.execute(
            """
            DELETE FROM phone_cool_downs WHERE phone IN (
                SELECT phone FROM phone_cool_downs WHERE until <= \(Self.typedSince(nowMilliseconds))
                ORDER BY until LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
        return proven + typed
    }
}
