import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels

extension ProfileStore {
    /// The user who has a number; nil if it is free. One round trip.
    func holder(of phone: PhoneNumber, deadline: Deadline?) async throws(PostgresError) -> UserID? {
        let row = try await database.query(
            "SELECT user_id FROM phones WHERE phone = \(phone.digits)",
            deadline: deadline
        ).first
        return try row.map { row throws(PostgresError) in UserID(try row.decode(0, as: PostgresUUID.self)) }
    }

    /// Takes a user's number from them, in one transaction: it is free then, for every user at once. Other services and webhook targets get
    /// the same events as when the user gives it up.
    ///
    /// Locks are taken as a save takes them: the profile's row, then that of the number. A user without a profile has no number.
    ///
    /// - Parameter expected: only this number; nil for any.
    /// - Returns: the number; nil if the user had none, or another one.
    func releasePhone(
        of userID: UserID,
        ifItIs expected: PhoneNumber?,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> PhoneNumber? {
        try await database.withTransaction(retries: Self.retriesMax, deadline: deadline) { transaction in
            let row = try await transaction.query(
                "SELECT \(unsafeSQL: Self.profileColumns) FROM profiles WHERE user_id = \(userID.uuid) FOR UPDATE"
            ).first
            guard let profile = try row.map({ try Self.profile(userID, $0) }), let phone = profile.phone,
                expected == nil || expected == phone
            else { return nil }
            try await coolDown(profile, waitMilliseconds: 0, nowMilliseconds, in: transaction)
            let now = PostgresTimestamp(milliseconds: nowMilliseconds)
            try await transaction.execute(
                """
                WITH freed AS (
                    DELETE FROM phones WHERE phone = \(phone.digits) AND user_id = \(userID.uuid)
                ), event AS (
                    INSERT INTO work (queue, event_id, key, user_id, created_at, trace, data)
                    VALUES (\(PhoneEventWork.queue), \(identifiers.make(EventID.self).uuid), \(phone.digits), \(userID.uuid), \(now),
                        \(Traces.current), jsonb_build_object('kind', \(PhoneEvent.Kind.released.rawValue)))
                ), told AS (
                    INSERT INTO work (queue, event_id, user_id, created_at, trace, data)
                    SELECT \(ServiceEventWork.queue), \(identifiers.make(EventID.self).uuid), \(userID.uuid), \(now), \(Traces.current),
                        jsonb_build_object('type', type)
                    FROM wanted_events WHERE type = \(ServiceEventType.phoneChanged.rawValue)
                )
                UPDATE profiles SET phone = NULL, proven_phone = NULL, phone_chosen_at = \(now), updated_at = GREATEST(updated_at, \(now)),
                    revision = revision + 1
                WHERE user_id = \(userID.uuid)
                """
            )
            return phone
        }
    }
}
