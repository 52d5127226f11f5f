import IdentityDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels

/// How profile settled a proof.
enum PhoneProofOutcome: Sendable, Hashable {
    /// The number is the user's. Other users may have lost it, or what they had because of it.
    case proven(takenFrom: [UserID])
    /// Another user has proven it and keeps it.
    case conflict
    /// Such numbers are not accepted.
    case notAllowed
    /// The user has chosen another number since.
    case outdated
    /// The user's account was closed meanwhile.
    case accountClosed
}

extension IdentityStore {
    /// How long a provider's number that profile doesn't accept is not sent again.
    static let refusedPhoneMilliseconds: Int64 = 86_400_000

    /// Records that an assertion proves a number, for delivery to profile; once for each assertion.
    ///
    /// - Parameters:
    ///   - sessionID: the session of the request. It must be proven for the number to open an imported account; nil if it isn't known.
    ///   - keys: hash the number, newest first.
    /// - Returns: the event to deliver to profile; the earlier one if the assertion comes again.
    /// - Throws: `IdentityError.sessionRevoked` if the account was closed meanwhile; `IdentityError.phoneAssertion(.invalid)` if its `jti` was
    ///   another user's or number's; what the database throws.
    func enter(
        _ assertion: PhoneAssertion,
        of userID: UserID,
        by sessionID: SessionID?,
        eventID: EventID,
        keys: [[UInt8]],
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> PhoneProofEvent {
        func event(_ eventID: EventID, _ isProven: Bool, acceptedAtMilliseconds: Int64? = nil) -> PhoneProofEvent {
            PhoneProofEvent(
                eventID: eventID,
                userID: userID,
                phoneNumber: assertion.phoneNumber,
                proof: "assertion",
                isSignInProven: isProven,
                acceptedAtMilliseconds: acceptedAtMilliseconds
            )
        }
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let hashes = SignInPhone.hashes(of: assertion.phoneNumber, keys: keys)
        let entered: Rows
        do {
            entered = try await database.execute(
                """
                WITH entered AS (
                    INSERT INTO phone_assertions (fingerprint, event_id, user_id, expires_at, phone_hash)
                    VALUES (\(assertion.fingerprint), \(eventID.uuid), \(userID.uuid),
                        \(PostgresTimestamp(secondsSince1970: assertion.acceptedUntilSeconds)), \(hashes.first))
                    ON CONFLICT (fingerprint) DO NOTHING
                    RETURNING event_id, user_id
                )
                INSERT INTO work (queue, event_id, key, user_id, created_at, trace, data)
                SELECT \(PhoneProofWork.queue), event_id, user_id::text, user_id, \(now), \(Traces.current), jsonb_build_object(
                    'phone', \(assertion.phoneNumber), 'proof', 'assertion', 'is_sign_in_proven', \(isProven: sessionID, of: userID))
                FROM entered
                RETURNING (data ->> 'is_sign_in_proven')::boolean
                """,
                deadline: deadline
            )
        } catch {
            // Not `catch … where`: Swift 6.3.1 crashes on it where the error's type is known.
            if error.sqlState == .foreignKeyViolation { throw IdentityError.sessionRevoked }
            throw error
        }
        if let isProven = try entered.first?.decode(0, as: Bool.self) { return event(eventID, isProven) }
        // A statement of its own, since the one before may have waited for the first use.
        let row = try await database.query(
            """
            SELECT used.event_id, used.user_id, used.phone_hash, waiting.created_at, \(isProven: sessionID, of: userID)
            FROM phone_assertions used
                LEFT JOIN work waiting ON waiting.queue = \(PhoneProofWork.queue) AND waiting.event_id = used.event_id
            WHERE fingerprint = \(assertion.fingerprint)
            """,
            deadline: deadline
        ).first
        guard let row else { throw IdentityError.phoneAssertion(.expired) }
        let (earlier, user, hash, enteredAt, isProven) = try row.decode(
            PostgresUUID.self,
            PostgresUUID.self,
            [UInt8].self,
            PostgresTimestamp?.self,
            Bool.self
        )
        guard UserID(user) == userID, hashes.contains(hash) else { throw IdentityError.phoneAssertion(.invalid) }
        // The user got a response before, and may have chosen another number since. A proof that no longer waits was settled by profile.
        return event(EventID(earlier), isProven, acceptedAtMilliseconds: enteredAt?.milliseconds)
    }

    /// Returns whether an older proof of the same user waits. It must be delivered before this one.
    func hasOlderProof(than event: PhoneProofEvent, deadline: Deadline?) async throws(PostgresError) -> Bool {
        try await !database.query(
            """
            SELECT FROM work mine
                JOIN work older ON older.queue = mine.queue AND older.key = mine.key AND older.id < mine.id
            WHERE mine.queue = \(PhoneProofWork.queue) AND mine.event_id = \(event.eventID.uuid) LIMIT 1
            """,
            deadline: deadline
        ).isEmpty
    }

    /// Records how profile settled a proof, and forgets the number: once, no matter which delivery was first. A provider's number that
    /// another user has proven counts as news again, as if it had not been sent. A number that isn't accepted at all is remembered as
    /// such for a while, beside the one before it.
    ///
    /// - Returns: false if the proof still waits because its user's account is being absorbed: it is then delivered for the absorbing
    ///   account.
    func settle(
        _ event: PhoneProofEvent,
        as outcome: PhoneProofOutcome,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Bool {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let user = event.userID.uuid
        var (isTaken, isRefused) = (false, false)
        var told: [(SecurityEvent, UserID)] = []
        switch outcome {
        case .proven(let takenFrom):
            isTaken = true
            told.append((.phoneProven, event.userID))
            told += takenFrom.map { (.phoneTaken, $0) }
        case .conflict: told.append((.phoneConflict, event.userID))
        case .notAllowed: isRefused = true
        // The user's later choice stands: the number isn't news again.
        case .outdated: isTaken = true
        case .accountClosed: break
        }
        let rows = try await database.execute(
            """
            WITH settled AS (
                DELETE FROM work WHERE queue = \(PhoneProofWork.queue) AND event_id = \(event.eventID.uuid) AND user_id = \(user)
                    -- Profile has closed it for the one that absorbs it.
                    AND NOT (\(outcome == .accountClosed) AND EXISTS (SELECT FROM absorptions WHERE absorbed = \(user)))
                RETURNING event_id, data ->> 'proof' AS proof
            ), known AS (
                UPDATE told_phones SET event_id = NULL,
                    before_hash = CASE WHEN \(isRefused) THEN COALESCE(before_hash, phone_hash) END,
                    phone_hash = CASE WHEN \(isTaken || isRefused) THEN phone_hash ELSE before_hash END
                FROM settled
                WHERE told_phones.event_id = settled.event_id AND (\(isTaken || isRefused) OR before_hash IS NOT NULL)
            ), unknown AS (
                DELETE FROM told_phones USING settled
                WHERE told_phones.event_id = settled.event_id AND NOT \(isTaken || isRefused) AND before_hash IS NULL
            ), audited AS (
                INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
                SELECT security_event_id(\(now), false), told.user_id, told.kind, \(now), jsonb_build_object('proof', settled.proof)
                FROM settled
                    CROSS JOIN unnest(\(told.map(\.0.rawValue)), \(told.map(\.1.uuid))) AS told (kind, user_id)
            )
            SELECT FROM settled
            """,
            deadline: deadline
        )
        if !rows.isEmpty { return true }
        // Settled before, by another delivery; or the proof belongs to another account now, or will.
        return try await database.query(
            "SELECT FROM work WHERE queue = \(PhoneProofWork.queue) AND event_id = \(event.eventID.uuid)",
            deadline: deadline
        ).isEmpty
    }

    /// Forgets assertions that would not be accepted any more, at most `limit`, and returns how many.
    func forgetPhoneAssertions(nowMilliseconds: Int64, limit: Int) async throws(PostgresError) -> Int {
        let refusedBefore = PostgresTimestamp(milliseconds: nowMilliseconds - Self.fingerprintMarginMilliseconds)
        return try await database.execute(
            """
            DELETE FROM phone_assertions WHERE fingerprint IN (
                SELECT fingerprint FROM phone_assertions
                WHERE expires_at <= \(refusedBefore)
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
    }
}

extension Query.StringInterpolation {
    /// Whether a session of a user, live or ended, was proven by a nonce or a code.
    fileprivate mutating func appendInterpolation(isProven sessionID: SessionID?, of userID: UserID) {
        appendLiteral("EXISTS (SELECT FROM sessions bringing WHERE bringing.session_id = ")
        appendInterpolation(sessionID?.uuid)
        appendLiteral(" AND bringing.user_id = ")
        appendInterpolation(userID.uuid)
        appendLiteral(" AND bringing.proof = ANY(")
        appendInterpolation(AccountAct.acceptedProofs.map(\.rawValue))
        appendLiteral("))")
    }
}
