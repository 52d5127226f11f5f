import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// How long a worker holds the checks of an app's tokens for itself: longer than a batch takes.
    static let checksHeld: Duration = .seconds(60)
    /// The minimum time between two checks of a token: a day, as Apple asks.
    static let checkPauseMilliseconds: Int64 = 86_400_000
    /// The maximum of the random delay added to it, so that tokens of one rush aren't all due at one time.
    static let checkSpreadMilliseconds: Int64 = 7_200_000

    /// Claims the next due tokens of an app. The caller has the app's checks to itself until ``finishChecks`` or for ``checksHeld``.
    /// Empty if another worker has them, or checks are stopped.
    ///
    /// Each token is postponed by a day before the provider is asked: a worker that is killed in between has skipped that day's check,
    /// and no token is checked twice in a day.
    func claimChecks(
        _ provider: ProviderName,
        _ clientID: String,
        most: Int,
        nowMilliseconds: Int64
    ) async throws -> [StoredGrant] {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return try await database.withTransaction(
            retries: 2,
            deadline: .after(Self.grantStatementLimit)
        ) { transaction in
            try await transaction.execute(
                """
                INSERT INTO provider_checks (
                    provider, client_id, window_began_at, checked, refused, stopped_until, held_until)
                VALUES (\(provider.value), \(clientID), \(now), 0, 0, '-infinity', '-infinity')
                ON CONFLICT DO NOTHING
                """
            )
            let known = try await transaction.execute(
                """
                SELECT window_began_at, checked, refused, stop_reason, stopped_until FROM provider_checks
                WHERE provider = \(provider.value) AND client_id = \(clientID) AND held_until <= clock_timestamp()
                FOR UPDATE SKIP LOCKED
                """
            )
            guard let checks = try known.first?.checks() else { return [] }
            let count = checks.batch(of: most, nowMilliseconds: nowMilliseconds)
            guard count > 0 else { return [] }
            let next = PostgresTimestamp(milliseconds: nowMilliseconds + Self.checkPauseMilliseconds)
            let spread = Self.checkSpreadMilliseconds
            let rows = try await transaction.execute(
                """
                UPDATE provider_grants
                SET checked_at = \(now), next_at = \(next) + random() * \(spread) * interval '1 millisecond'
                WHERE grant_id IN (
                    SELECT grant_id FROM provider_grants
                    WHERE provider = \(provider.value) AND client_id = \(clientID) AND state = 'kept' AND next_at <= \(now)
                    ORDER BY next_at LIMIT \(count) FOR UPDATE SKIP LOCKED)
                RETURNING \(unsafeSQL: Self.grantColumns)
                """
            )
            let grants = try rows.map { try $0.grant() }
            if grants.isEmpty { return [] }
            let heldMilliseconds = Int64(Self.checksHeld / .milliseconds(1))
            try await transaction.execute(
                """
                UPDATE provider_checks SET held_until = clock_timestamp() + \(heldMilliseconds) * interval '1 millisecond'
                WHERE provider = \(provider.value) AND client_id = \(clientID)
                """
            )
            return grants
        }
    }

    /// Judges a batch of checks, and lets the next one begin. ``endRefused(_:nowMilliseconds:)`` then signs the refused users out.
    ///
    /// - Returns: the state of the checks, and whether users that the provider refused are to be signed out.
    func finishChecks(
        _ provider: ProviderName,
        _ clientID: String,
        _ answers: [GrantChecks.Answer],
        refusedPercentMax: Int,
        nowMilliseconds: Int64
    ) async throws -> (checks: GrantChecks, mayEnd: Bool) {
        try await database.withTransaction(
            retries: 3,
            deadline: .after(Self.grantStatementLimit)
        ) { transaction in
            let known = try await transaction.execute(
                """
                SELECT window_began_at, checked, refused, stop_reason, stopped_until FROM provider_checks
                WHERE provider = \(provider.value) AND client_id = \(clientID) FOR UPDATE
                """
            )
            var checks = try known.first?.checks() ?? GrantChecks(nowMilliseconds: nowMilliseconds)
            let mayEnd = checks.judge(
                answers,
                refusedPercentMax: refusedPercentMax,
                nowMilliseconds: nowMilliseconds
            )
            try await transaction.execute(
                """
                UPDATE provider_checks SET
                    window_began_at = \(PostgresTimestamp(milliseconds: checks.windowBeganAt)),
                    checked = \(checks.checked), refused = \(checks.refused), stop_reason = \(checks.stopReason?.rawValue),
                    stopped_until = \(PostgresTimestamp(milliseconds: checks.stoppedUntil)), held_until = '-infinity'
                WHERE provider = \(provider.value) AND client_id = \(clientID)
                """
            )
            return (checks, mayEnd)
        }
    }

    /// Ends the sessions that an account had by a provider when its token was checked, and forgets the token. A token that was replaced
    /// meanwhile, or that is to be revoked, says nothing any more. A token from before the provider reported that the user withdrew their
    /// consent says nothing of sessions from after that: the user gave it anew, by a sign-in that brought no token.
    ///
    /// - Returns: whether the token was still the kept one.
    func endRefused(_ place: GrantPlace, nowMilliseconds: Int64) async throws -> Bool {
        guard let grantID = PostgresUUID(bytes: place.grantID) else { return false }
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return try await database.withTransaction(
            retries: 3,
            deadline: .after(Self.grantStatementLimit)
        ) { transaction in
            // Sessions before the token's row, in the order in which a closing locks them.
            try await transaction.execute(
                """
                SELECT FROM sessions
                WHERE user_id = \(place.userID.uuid) AND provider = \(place.provider.value) AND revoked_at IS NULL
                ORDER BY session_id FOR UPDATE
                """
            )
            let gone = try await transaction.execute(
                """
                WITH gone AS (
                    -- One that went to another account meanwhile is asked about again: the sessions that are locked aren't that one's.
                    DELETE FROM provider_grants
                    WHERE grant_id = \(grantID) AND state = 'kept' AND user_id = \(place.userID.uuid)
                    RETURNING checked_at, granted_at
                ), withdrawn AS (
                    SELECT max(tokens_from) AS at FROM provider_identities, gone
                    WHERE user_id = \(place.userID.uuid) AND provider = \(place.provider.value) AND tokens_from > granted_at
                ), ended AS (
                    UPDATE sessions SET revoked_at = \(now), revoke_reason = \(SessionEnd.byProvider.rawValue),
                        expires_at = LEAST(expires_at, \(now))
                    WHERE user_id = \(place.userID.uuid) AND provider = \(place.provider.value) AND revoked_at IS NULL
                        AND created_at <= (SELECT checked_at FROM gone)
                        AND (created_at < (SELECT at FROM withdrawn)) IS NOT FALSE
                )
                SELECT checked_at FROM gone
                """
            )
            return !gone.isEmpty
        }
    }

    /// The apps whose checks are stopped now, and why.
    func stoppedChecks(nowMilliseconds: Int64) async throws(PostgresError) -> [(
        provider: String, clientID: String, reason: String
    )] {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.query(
            "SELECT provider, client_id, stop_reason FROM provider_checks WHERE stop_reason IS NOT NULL AND stopped_until > \(now)",
            deadline: .after(Self.grantStatementLimit)
        )
        var stopped: [(provider: String, clientID: String, reason: String)] = []
        for row in rows {
            let (provider, clientID, reason) = try row.decode(String.self, String.self, String.self)
            stopped.append((provider, clientID, reason))
        }
        return stopped
    }
}

extension Row {
    fileprivate func checks() throws(PostgresError) -> GrantChecks {
        let (began, checked, refused, reason, until) = try decode(
            PostgresTimestamp.self,
            Int64.self,
            Int64.self,
            String?.self,
            PostgresTimestamp.self
        )
        return GrantChecks(
            windowBeganAt: began.milliseconds,
            checked: checked,
            refused: refused,
            stopReason: reason.flatMap(GrantChecks.StopReason.init(rawValue:)),
            stoppedUntil: max(0, until.milliseconds)
        )
    }
}
