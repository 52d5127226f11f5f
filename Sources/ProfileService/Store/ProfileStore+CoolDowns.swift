import Models
import Postgres
import ProfileDomain
import ServiceModels

/// Numbers that were given up a while ago: others can't type them for some time, and a user who typed one loses by a proof what they had by
/// it.
extension ProfileStore {
    /// How long the typist of a given-up number is remembered, beyond the time in which others can't type it. Shorter than the time before
    /// a number is given to another person: that person's proof says nothing against the earlier one.
    static let typistMilliseconds: Int64 = 30 * 86_400_000

    /// Records that the user of a profile, which is locked, gives their number up; a typed one also if others may take it at once.
    ///
    /// - Parameter waitMilliseconds: how long others can't type it; nil for as long as the policy says.
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

    /// Records that a user had proven a number that they gave up since: no other proof takes what they had by it.
    func prove(formerNumberOf claim: ProvenPhone, in transaction: PostgresTransaction) async throws {
        try await transaction.execute(
            """
            UPDATE phone_cool_downs SET was_proven = true
            WHERE phone = \(claim.phone.digits) AND user_id = \(claim.userID.uuid)
            """
        )
    }

    /// The last other user who typed a number and gave it up a while ago; nil if none did, or if they had proven it.
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

    /// The oldest end of a waiting time for which the typist is still remembered.
    static func typedSince(_ nowMilliseconds: Int64) -> PostgresTimestamp {
        PostgresTimestamp(milliseconds: nowMilliseconds - typistMilliseconds)
    }

    /// Deletes numbers that any user may take again and for which no typist can lose anything, at most `limit` of each kind, and returns
    /// how many.
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
