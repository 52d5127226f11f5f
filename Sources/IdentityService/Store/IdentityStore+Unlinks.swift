import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// What opens accounts now.
struct WaysIn: Sendable {
    /// The configured providers.
    let providers: Set<String>
    /// The relying party of passkeys; nil where they are off. Passkeys of another one open nothing.
    let relyingParty: String?

    /// Since when an account has what opens it, in Unix milliseconds: its identities, and its passkeys one by one.
    func times(of identities: [LockedIdentity], passkeys: [AccountPasskey]) -> [Int64] {
        identities.filter(\.mayOpen).flatMap { identity in
            if identity.provider != ProviderName.passkey.value {
                return providers.contains(identity.provider) ? [identity.linkedAt.milliseconds] : []
            }
            return passkeys.filter { $0.relyingParty == relyingParty }.map { $0.addedMilliseconds(to: identity) }
        }
    }
}

extension AccountPasskey {
    /// Since when the account has it, in Unix milliseconds: its own time, or that of a merge that brought it.
    func addedMilliseconds(to identity: LockedIdentity) -> Int64 {
        max(createdAt.milliseconds, identity.linkedAt.milliseconds)
    }
}

extension IdentityStore {
    /// Removes a provider's identity from an account, in one transaction: the sessions that it opened end, the provider's grant is to be
    /// revoked, and a user who signs in with it from then on gets a new account. Announce the end of sessions when this returns true.
    ///
    /// Locks are taken as in ``link(_:to:nowMilliseconds:deadline:)``, then sessions in the order of their ids.
    ///
    /// - Parameter configured: what accepts sign-ins now: an account must keep one of these.
    /// - Returns: false if the account has no identity of the provider; then nothing was done.
    /// - Throws: `IdentityError.link(.lastProvider)`, `providerLinkedTooRecently`, or of the session as a link; or what the database
    ///   throws.
    func unlink(
        _ provider: ProviderName,
        from session: LinkingSession,
        configured: WaysIn,
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
        configured: WaysIn,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let user = session.userID.uuid
        let identities = try await lockIdentities(of: [session.userID], in: transaction)
        let askingProvider = try await check(session, for: .unlinkProvider, now, in: transaction)
        guard let removed = identities.first(where: { $0.provider == provider.value }) else { return false }
        try await checkNotAbsorbing([session.userID], in: transaction)
        let passkeys = try await passkeys(of: session.userID, in: transaction)
        let remaining = configured.times(of: identities.filter { $0 != removed }, passkeys: passkeys)
        guard !remaining.isEmpty else { throw IdentityError.link(.lastProvider) }
        try checkAge(
            removed: removed.linkedAt.milliseconds,
            asking: try await openedSince(session, by: askingProvider, identities, passkeys, in: transaction),
            remaining: remaining,
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
        try await deleteRecoveryCodes(of: session.userID, madeBy: provider, in: transaction)
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
    /// - Throws: ``signInTooOld`` if it isn't there any more. A session ends with what opened it: without that there is nothing to
    ///   judge it by.
    func openedSince(
        _ session: LinkingSession,
        by provider: String,
        _ identities: [LockedIdentity],
        _ passkeys: [AccountPasskey],
        in transaction: PostgresTransaction
    ) async throws -> Int64 {
        guard let identity = identities.first(where: { $0.provider == provider }) else {
            throw signInTooOld
        }
        guard provider == ProviderName.passkey.value else { return identity.linkedAt.milliseconds }
        let row = try await transaction.query(
            "SELECT passkey_id FROM sessions WHERE session_id = \(session.sessionID.uuid)"
        ).first
        let id = try row?.decode(PostgresUUID?.self).map { PasskeyID($0) }
        guard let passkey = passkeys.first(where: { $0.id == id }) else { throw signInTooOld }
        return passkey.addedMilliseconds(to: identity)
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
