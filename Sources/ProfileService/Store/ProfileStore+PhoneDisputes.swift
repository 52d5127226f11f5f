import Models
import Postgres
import ProfileDomain
import RPC
import ServiceModels

/// Numbers that two users have proven, for operators.
extension ProfileStore {
    /// Records for operators that two users have proven a number: one dispute for each user, the last.
    func dispute(
        _ claim: ProvenPhone,
        with holder: UserID,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(
            """
            INSERT INTO phone_disputes (claimant_user_id, holder_user_id, phone, proof, created_at)
            VALUES (\(claim.userID.uuid), \(holder.uuid), \(claim.phone.digits), \(claim.proof.rawValue),
                \(PostgresTimestamp(milliseconds: nowMilliseconds)))
            ON CONFLICT (claimant_user_id) DO UPDATE SET holder_user_id = excluded.holder_user_id, phone = excluded.phone,
                proof = excluded.proof,
                created_at = CASE WHEN phone_disputes.phone = excluded.phone THEN phone_disputes.created_at
                    ELSE excluded.created_at END
            """
        )
    }

    /// A number that two users have proven.
    struct Dispute: Sendable, Hashable {
        let phone: PhoneNumber
        let holder: UserID
        let claimant: UserID
        let proof: PhoneProof
        let createdAtMilliseconds: Int64
    }

    /// The disputes, oldest first, at most `limit` of them; without those whose holder no longer has the number.
    func disputes(limit: Int, deadline: Deadline?) async throws -> [Dispute] {
        let rows = try await database.query(
            """
            SELECT phone, holder_user_id, claimant_user_id, d.proof, created_at
            FROM phone_disputes d JOIN phones p USING (phone)
            WHERE p.user_id = d.holder_user_id
            ORDER BY created_at, claimant_user_id LIMIT \(limit)
            """,
            deadline: deadline
        )
        return try rows.compactMap { row in
            let (digits, holder, claimant, word, createdAt) = try row.decode(
                String.self,
                PostgresUUID.self,
                PostgresUUID.self,
                String.self,
                PostgresTimestamp.self
            )
            guard let phone = PhoneNumber(stored: digits), let proof = PhoneProof(rawValue: word) else { return nil }
            return Dispute(
                phone: phone,
                holder: UserID(holder),
                claimant: UserID(claimant),
                proof: proof,
                createdAtMilliseconds: createdAt.milliseconds
            )
        }
    }
}
