import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// Throws unless a session may have its account absorb a guest's: its sign-in is proven by a nonce or a code, and recent. Changes
    /// nothing.
    func checkMayAbsorbGuest(_ session: LinkingSession, nowMilliseconds: Int64, deadline: Deadline?) async throws {
        try await database.withTransaction(retries: Self.linkRetriesMax, deadline: deadline) { transaction in
            let now = PostgresTimestamp(milliseconds: nowMilliseconds)
            try await checkMayAbsorbGuest(session, now, in: transaction)
        }
    }

    /// Begins the absorption of a guest's account by another one, once both sides are checked under the locks of the accounts' rows. It need
    /// not be empty: invites and profile don't ask. It is never turned round.
    ///
    /// - Parameter guest: the live session of the guest that the request came with.
    /// - Returns: the absorption, which the caller continues; also an idle one of the same two accounts.
    /// - Throws: `IdentityError` with `guest` for a session that is no guest's any more, with `accountBlocked`, with
    ///   `link(.absorptionUnderWay)`, or of the asking session; then nothing is done. Or what the database throws.
    func beginGuestAbsorption(
        _ id: EventID,
        of guest: LinkingSession,
        into session: LinkingSession,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Absorption {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let pair = [guest.userID, session.userID].map(\.uuid)
        return try await database.withTransaction(retries: Self.linkRetriesMax, deadline: deadline) { transaction in
            let accounts = try await transaction.query(
                """
                SELECT user_id, guest_until IS NOT NULL, blocked_at IS NOT NULL FROM accounts
                WHERE user_id = ANY(\(pair)) ORDER BY user_id FOR NO KEY UPDATE
                """
            ).map { try $0.decode(PostgresUUID.self, Bool.self, Bool.self) }
            try await checkMayAbsorbGuest(session, now, in: transaction)
            guard accounts.contains(where: { $0.0 == guest.userID.uuid && $0.1 }) else {
                throw IdentityError.guest(.tokenInvalid)
            }
            if accounts.contains(where: { $0.2 }) { throw IdentityError.signIn(.accountBlocked) }
            do {
                _ = try await liveSession(guest.sessionID, of: guest.userID, in: transaction)
            } catch is IdentityError {
                throw IdentityError.guest(.tokenInvalid)
            }
            let idle = try await transaction.execute(
                """
                UPDATE absorptions SET held_until = \(Self.leaseEnd(nowMilliseconds))
                WHERE absorbed = \(pair[0]) AND absorber = \(pair[1]) AND is_guest AND held_until <= \(now)
                RETURNING \(unsafeSQL: Self.absorptionColumns)
                """
            )
            if let row = idle.first { return try Absorption(row) }
            try await checkNotAbsorbing([guest.userID, session.userID], in: transaction)
            try await transaction.execute(
                """
                INSERT INTO absorptions (
                    absorption_id, absorbed, absorber, asker, fingerprints, state, may_turn, is_guest, begun_at, held_until)
                VALUES (\(id.uuid), \(pair[0]), \(pair[1]), \(pair[1]), '{}', 'asking', false, true, \(now),
                    \(Self.leaseEnd(nowMilliseconds)))
                """
            )
            return Absorption(
                id: id,
                absorbed: guest.userID,
                absorber: session.userID,
                asker: session.userID,
                isGuest: true,
                step: .asking
            )
        }
    }

    /// Whether one of the accounts has absorbed a guest's whose groups haven't all joined it yet: until then invites may take it for an empty
    /// one.
    func isSucceeding(_ users: [UserID], in transaction: PostgresTransaction) async throws -> Bool {
        try await !transaction.query(
            "SELECT FROM account_closings WHERE successor = ANY(\(users.map(\.uuid))) AND invites_done_at IS NULL"
        ).isEmpty
    }

    /// Throws while one of the accounts waits for the groups of a guest whom it has absorbed.
    func checkNotSucceeding(_ users: [UserID], in transaction: PostgresTransaction) async throws {
        if try await isSucceeding(users, in: transaction) { throw IdentityError.link(.absorptionUnderWay) }
    }

    private func checkMayAbsorbGuest(
        _ session: LinkingSession,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        _ = try await check(session, for: .mergeAccounts, now, in: transaction)
        let openedFrom = PostgresTimestamp(milliseconds: now.milliseconds - Self.absorptionSignInMilliseconds)
        // Recent by a limit of its own, independent of other acts.
        let recent = try await transaction.query(
            "SELECT FROM sessions WHERE session_id = \(session.sessionID.uuid) AND created_at >= \(openedFrom)"
        )
        if recent.isEmpty {
            throw IdentityError.signInInsufficient(
                .tooOld,
                maxAgeSeconds: Self.absorptionSignInMilliseconds / 1000
            )
        }
    }
}
