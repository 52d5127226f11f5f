import IdentityDomain
import Postgres
import RPC

/// The backlog of the vault.
struct GrantBacklog: Sendable, Hashable {
    /// How many tokens are still to be revoked.
    var revoking: Int64 = 0
    /// How long the oldest of them has been waiting, in seconds.
    var oldestRevokingSeconds: Double = 0
    /// How many are sealed under a retired key.
    var underRetiredKeys: Int64 = 0
    /// How many are sealed under a key that we don't have.
    var underUnknownKeys: Int64 = 0
}

extension IdentityStore {
    /// Claims tokens that are due for revocation, at most `limit`, each for a minute, then two, and so on up to six hours: until then no
    /// other worker takes them, and after that the claiming worker is gone or got no response.
    func claimRevocations(limit: Int, nowMilliseconds: Int64) async throws(PostgresError) -> [StoredGrant] {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.execute(
            """
            UPDATE provider_grants
            SET tries = tries + 1, next_at = \(now) + LEAST(interval '6 hours', interval '1 minute' * 2 ^ LEAST(tries, 9))
            WHERE grant_id IN (
                SELECT grant_id FROM provider_grants WHERE state = 'revoking' AND next_at <= \(now)
                ORDER BY next_at, abandoned_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            RETURNING \(unsafeSQL: Self.grantColumns)
            """,
            deadline: .after(Self.grantStatementLimit)
        )
        var grants: [StoredGrant] = []
        for row in rows { grants.append(try row.grant()) }
        return grants
    }

    /// Forgets a token that is worth nothing any more, or that no provider can be asked to revoke. The audit log records it.
    func forgetRevoked(_ place: GrantPlace, nowMilliseconds: Int64) async throws(PostgresError) {
        guard let grantID = PostgresUUID(bytes: place.grantID) else { return }
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        try await database.execute(
            """
            WITH forgotten AS (
                DELETE FROM provider_grants WHERE grant_id = \(grantID) AND state = 'revoking'
                RETURNING user_id, provider, client_id
            )
            INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
            SELECT security_event_id(\(now), false), user_id, \(SecurityEvent.providerTokenRevoked.rawValue), \(now),
                jsonb_build_object('provider', provider, 'client_id', client_id)
            FROM forgotten
            """,
            deadline: .after(Self.grantStatementLimit)
        )
    }

    /// Gives up revocations that failed for so long, at most `limit` tokens, and returns how many: no data of a deleted account stays for
    /// ever because a provider doesn't answer or isn't configured any more, or a key is gone. The audit log records each. The age is
    /// measured by the database's clock, which dated them.
    func giveUpRevocations(
        afterMilliseconds: Int64,
        nowMilliseconds: Int64,
        limit: Int
    ) async throws(PostgresError) -> Int {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return try await database.execute(
            """
            WITH given_up AS (
                DELETE FROM provider_grants WHERE grant_id IN (
                    SELECT grant_id FROM provider_grants WHERE state = 'revoking'
                        AND abandoned_at <= clock_timestamp() - \(afterMilliseconds) * interval '1 millisecond'
                    ORDER BY abandoned_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
                RETURNING user_id, provider, client_id
            )
            INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
            SELECT security_event_id(\(now), false), user_id, \(SecurityEvent.providerTokenRevoked.rawValue), \(now),
                jsonb_build_object('provider', provider, 'client_id', client_id, 'given_up', true)
            FROM given_up
            """,
            deadline: .after(Self.grantStatementLimit)
        ).affected
    }

    /// Seals tokens under retired keys anew: at most `limit`, beyond the row `after`, in one transaction.
    ///
    /// - Parameters:
    ///   - keyIDs: the retired keys' names.
    ///   - seal: opens and seals a token; nil for one that can't be opened, which stays as it is.
    /// - Returns: the last row that was read, nil if there is none left; how many tokens were sealed anew, and how many could not be
    ///   opened.
    func reseal(
        under keyIDs: [String],
        after: PostgresUUID?,
        limit: Int,
        _ seal: @Sendable (StoredGrant) -> SealedToken?
    ) async throws -> (last: PostgresUUID?, resealed: Int, unopened: Int) {
        try await database.withTransaction(
            retries: 2,
            deadline: .after(Self.grantStatementLimit)
        ) { transaction in
            let rows = try await transaction.execute(
                """
                SELECT \(unsafeSQL: Self.grantColumns) FROM provider_grants
                WHERE key_id = ANY (\(keyIDs)) AND (\(after) IS NULL OR grant_id > \(after))
                ORDER BY grant_id LIMIT \(limit) FOR UPDATE SKIP LOCKED
                """
            )
            var ids: [PostgresUUID] = []
            var sealed: [SealedToken] = []
            var last: PostgresUUID?
            for row in rows {
                let grant = try row.grant()
                last = PostgresUUID(bytes: grant.place.grantID)
                if let last, let token = seal(grant) {
                    ids.append(last)
                    sealed.append(token)
                }
            }
            if !ids.isEmpty {
                try await transaction.execute(
                    """
                    UPDATE provider_grants SET key_id = new.key_id, sealed_token = new.sealed_token
                    FROM unnest(\(ids), \(sealed.map(\.keyID)), \(sealed.map(\.bytes))) AS new (id, key_id, sealed_token)
                    WHERE grant_id = new.id
                    """
                )
            }
            return (last, ids.count, rows.count - ids.count)
        }
    }

    /// The backlog of the vault, for monitoring.
    func grantBacklog(_ keys: VaultKeys) async throws(PostgresError) -> GrantBacklog {
        let rows = try await database.query(
            """
            WITH RECURSIVE names (key_id) AS (
                -- Each name once, by the index, however many rows it has.
                (SELECT key_id FROM provider_grants ORDER BY key_id LIMIT 1)
                UNION ALL
                SELECT (SELECT key_id FROM provider_grants WHERE key_id > names.key_id ORDER BY key_id LIMIT 1)
                FROM names WHERE names.key_id IS NOT NULL
            )
            SELECT (SELECT count(*) FROM provider_grants WHERE state = 'revoking'),
                COALESCE((SELECT extract(epoch FROM clock_timestamp() - min(abandoned_at)) FROM provider_grants
                    WHERE state = 'revoking'), 0)::float8,
                (SELECT count(*) FROM provider_grants WHERE key_id = ANY (\(keys.retiredIDs))),
                (SELECT count(*) FROM provider_grants
                    WHERE key_id IN (SELECT key_id FROM names WHERE key_id <> ALL (\(keys.ids))))
            """,
            deadline: .after(Self.grantStatementLimit)
        )
        guard let row = rows.first else { return GrantBacklog() }
        let (revoking, oldest, retired, unknown) = try row.decode(Int64.self, Double.self, Int64.self, Int64.self)
        return GrantBacklog(
            revoking: revoking,
            oldestRevokingSeconds: oldest,
            underRetiredKeys: retired,
            underUnknownKeys: unknown
        )
    }
}
