import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// Removes a provider's identity from an account, in one transaction: the sessions that it opened end, the provider's grant is to be
    /// revoked, and a user who signs in with it from then on gets a new account. Announce the end of sessions when this returns true.
    ///
    /// Locks are taken as in ``link(_:to:nowMilliseconds:deadline:)``, then sessions in the order of their ids.
    ///
    /// - Parameter configured: the providers that accept sign-ins now: an account must keep one of them.
    /// - Returns: false if the account has no identity of the provider; then nothing was done.
    /// - Throws: `IdentityError.link(.lastProvider)`, `providerLinkedTooRecently`, or of the session as a link; or what the database
    ///   throws.
    func unlink(
        _ provider: ProviderName,
        from session: LinkingSession,
        configured: [ProviderName],
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Bool {
        try await database.withTransaction(retries: Self.linkRetriesMax, deadline: deadline) { transaction in
            try await unlink(provider, from: session, configured: configured, nowMilliseconds, in: transaction)
        }
    }

    /// As ``unlink(_:from:configured:nowMilliseconds:deadline:)``, in a transaction that may have taken its locks.
    func unlink(
        _ provider: ProviderName,
        from session: LinkingSession,
        configured: [ProviderName],
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let user = session.userID.uuid
        let identities = try await lockIdentities(of: [session.userID], in: transaction)
        let askingProvider = try await check(session, for: .unlinkProvider, now, in: transaction)
        guard let removed = identities.first(where: { $0.provider == provider.value }) else { return false }
        try await checkNotAbsorbing([session.userID], in: transaction)
        let names = Set(configured.map(\.value))
        let remaining = identities.filter { $0 != removed && $0.mayOpen && names.contains($0.provider) }
        guard !remaining.isEmpty else { throw IdentityError.link(.lastProvider) }
        try checkAge(
            removed: removed.linkedAt.milliseconds,
            asking: try await openedSince(session, by: askingProvider, identities, in: transaction),
            remaining: remaining.map(\.linkedAt.milliseconds),
            nowMilliseconds
        )
        try await transaction.query(
            """
            SELECT FROM sessions WHERE user_id = \(user) AND provider = \(provider.value) AND revoked_at IS NULL
            ORDER BY session_id FOR UPDATE
            """
        )
        try await transaction.execute(
            """
            UPDATE sessions SET revoked_at = \(now), revoke_reason = \(SessionEnd.unlinked.rawValue),
                expires_at = LEAST(expires_at, \(now))
            WHERE user_id = \(user) AND provider = \(provider.value) AND revoked_at IS NULL
            """
        )
        try await abandonGrants(of: session.userID, provider: provider, in: transaction)
        try await transaction.execute(
            """
            WITH told AS (
                INSERT INTO security_events (event_id, user_id, session_id, kind, occurred_at, details)
                VALUES (security_event_id(\(now), false), \(user), \(session.sessionID.uuid),
                    \(SecurityEvent.providerUnlinked.rawValue), \(now),
                    jsonb_build_object('provider', \(provider.value)))
            )
            DELETE FROM provider_identities WHERE user_id = \(user) AND provider = \(provider.value)
            """
        )
        return true
    }

    /// Since when an account has had the way in that opened a session, in Unix milliseconds: the provider, or the one passkey.
    ///
    /// - Throws: `recentSignInRequired` if it isn't there any more. A session ends with the identity that opened it: without one there is
    ///   nothing to judge it by.
    func openedSince(
        _ session: LinkingSession,
        by provider: String,
        _ identities: [LockedIdentity],
        in transaction: PostgresTransaction
    ) async throws -> Int64 {
        guard let identity = identities.first(where: { $0.provider == provider }) else {
            throw IdentityError.recentSignInRequired
        }
        guard provider == ProviderName.passkey.value else { return identity.linkedAt.milliseconds }
        let row = try await transaction.query(
            """
            SELECT passkey.created_at FROM sessions JOIN passkeys passkey USING (passkey_id)
            WHERE session_id = \(session.sessionID.uuid)
            """
        ).first
        guard let row else { throw IdentityError.recentSignInRequired }
        return try row.decode(PostgresTimestamp.self).milliseconds
    }

    /// Throws `providerLinkedTooRecently` if a way in may not be taken from an account yet, by when its ways in were added.
    func checkAge(
        removed: Int64,
        asking: Int64,
        remaining: [Int64],
        _ nowMilliseconds: Int64
    ) throws(IdentityError) {
        let times = ProviderRemoval.LinkTimes(removed: removed, asking: asking, remaining: remaining)
        if let from = ProviderRemoval.possibleFrom(times, nowMilliseconds: nowMilliseconds) {
            throw .providerLinkedTooRecently(waitSeconds: (from - nowMilliseconds - 1) / 1000 + 1)
        }
    }
}
