import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

/// The account that a recovery code is of.
struct RecoveringAccount: Sendable {
    let userID: UserID
    /// A name that a provider told of the user; nil if none is known.
    let name: String?
    /// The passkey that the code has added; nil if it wasn't used yet.
    let added: PasskeyID?
}

extension IdentityStore {
    /// Wrong codes from one address, over all replicas. A right one passes in any case: nobody guesses 80 bits, and users may share an
    /// address.
    static let recoveryTriesPerAddress = Quota.daily("recovery_address", countMax: 50)
    /// How often an account gets codes: each time is an event that its user is shown.
    static let recoveryCodesPerAccount = Quota.daily("recovery_codes", countMax: 5)

    /// Replaces the recovery codes of an account. A way to sign in that was added less than a day ago gets none where there is an older one,
    /// just as it removes none: codes of a thief would be good after the owner has removed that way.
    ///
    /// - Returns: false if another code has one of the locators, and nothing was done.
    /// - Throws: `providerLinkedTooRecently`, `IdentityError.recovery(.tooManyAttempts)`, or what the session is refused for; or what the
    ///   database throws.
    func replaceRecoveryCodes(
        by codes: [RecoveryCode],
        _ session: LinkingSession,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Bool {
        let (user, now) = (session.userID.uuid, PostgresTimestamp(milliseconds: nowMilliseconds))
        do {
            try await database.withTransaction(retries: Self.linkRetriesMax, deadline: deadline) { transaction in
                let identities = try await lockIdentities(of: [session.userID], in: transaction)
                let provider = try await check(session, for: .createRecoveryCodes, now, in: transaction)
                try await checkNotAbsorbing([session.userID], in: transaction)
                try await checkWayIn(session, provider, identities, nowMilliseconds, in: transaction)
                try await spendCreation(of: session.userID, nowMilliseconds, in: transaction)
                try await transaction.execute("DELETE FROM recovery_codes WHERE user_id = \(user)")
                let inserted = try await transaction.execute(
                    """
                    INSERT INTO recovery_codes (locator, user_id, hash, created_at, provider, made_by)
                    SELECT locator, \(user), hash, \(now), \(provider),
                        (SELECT passkey_id FROM sessions WHERE session_id = \(session.sessionID.uuid))
                    FROM unnest(\(codes.map(\.locator)), \(codes.map(\.hash))) AS code (locator, hash)
                    ON CONFLICT (locator) DO NOTHING
                    """
                )
                guard inserted.affected == codes.count else { throw LocatorTaken() }
                try await transaction.execute(
                    """
                    INSERT INTO security_events (event_id, user_id, session_id, kind, occurred_at, details)
                    VALUES (security_event_id(\(now), false), \(user), \(session.sessionID.uuid),
                        \(SecurityEvent.recoveryCodesCreated.rawValue), \(now), '{}')
                    """
                )
            }
            return true
        } catch is LocatorTaken {
            return false
        }
    }

    /// How many recovery codes of an account aren't used yet, and when they were made; nil if there are none.
    func recoveryCodes(
        of userID: UserID,
        deadline: Deadline?
    ) async throws -> (remaining: Int64, createdAt: PostgresTimestamp)? {
        let row = try await database.query(
            """
            SELECT count(*) FILTER (WHERE used_at IS NULL), min(created_at) FROM recovery_codes
            WHERE user_id = \(userID.uuid)
            """,
            deadline: deadline
        ).first
        guard let (remaining, createdAt) = try row?.decode(Int64.self, PostgresTimestamp?.self), let createdAt else {
            return nil
        }
        return (remaining, createdAt)
    }

    /// The account of a recovery code. The code isn't used up. A wrong one counts.
    ///
    /// - Parameter addressCode: the client's address, as a code; nil for a private one, which may be everybody behind a proxy: the gateway
    ///   alone limits those.
    /// - Throws: `IdentityError.recovery`, `accountBlocked`, or what the database throws.
    func account(
        of code: RecoveryCode?,
        addressCode: [UInt8]?,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> RecoveringAccount {
        try await database.withTransaction(retries: Self.linkRetriesMax, deadline: deadline) {
            transaction -> Result<RecoveringAccount, IdentityError> in
            if let code, let account = try await account(of: code, in: transaction) {
                try await checkNotAbsorbing([account.userID], in: transaction)
                return .success(account)
            }
            guard let addressCode else { return .failure(.recovery(.invalid)) }
            let wait = try await QuotaStore.spend(
                Self.recoveryTriesPerAddress,
                of: addressCode,
                nowMilliseconds: nowMilliseconds,
                in: transaction
            )
            // Returned and not thrown, so that it is counted.
            return .failure(.recovery(wait.map { .tooManyAttempts(retryAfterMilliseconds: $0) } ?? .invalid))
        }.get()
    }

    /// Deletes the codes that were made by sessions of a way in which is removed: they would be a way in of the same person.
    ///
    /// - Parameter passkey: the one that is removed; nil for all of the provider.
    func deleteRecoveryCodes(
        of userID: UserID,
        madeBy provider: ProviderName,
        _ passkey: PasskeyID? = nil,
        in transaction: PostgresTransaction
    ) async throws {
        let id = passkey?.uuid
        try await transaction.execute(
            """
            DELETE FROM recovery_codes WHERE user_id = \(userID.uuid) AND provider = \(provider.value)
                AND (\(id) IS NULL OR made_by = \(id))
            """
        )
    }

    /// Locks an account and a recovery code of it for the rest of the transaction. The account's identities must be locked before.
    ///
    /// - Returns: the passkey that the code has added; nil if it wasn't used yet.
    /// - Throws: `IdentityError.recovery(.invalid)` if the code is the account's no longer, or `accountBlocked`.
    func use(
        _ code: RecoveryCode,
        of userID: UserID,
        in transaction: PostgresTransaction
    ) async throws -> PasskeyID? {
        let account = try await transaction.query(
            "SELECT blocked_at IS NOT NULL FROM accounts WHERE user_id = \(userID.uuid) FOR NO KEY UPDATE"
        ).first
        guard let account else { throw IdentityError.recovery(.invalid) }
        if try account.decode(Bool.self) { throw IdentityError.signIn(.accountBlocked) }
        let row = try await transaction.query(
            """
            SELECT hash, passkey_id FROM recovery_codes
            WHERE locator = \(code.locator) AND user_id = \(userID.uuid) FOR UPDATE
            """
        ).first
        guard let (hash, added) = try row?.decode([UInt8].self, PostgresUUID?.self),
            ConstantTime.areEqual(hash, code.hash)
        else { throw IdentityError.recovery(.invalid) }
        return added.map { PasskeyID($0) }
    }

    /// Notes that a code which is locked has added a passkey.
    func noteUse(
        of code: RecoveryCode,
        by userID: UserID,
        adding passkey: PasskeyID,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(
            "UPDATE recovery_codes SET used_at = \(now), passkey_id = \(passkey.uuid) WHERE locator = \(code.locator)"
        )
        try await transaction.execute(
            """
            INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
            SELECT security_event_id(\(now), false), \(userID.uuid), \(SecurityEvent.recoveryCodeUsed.rawValue), \(now),
                jsonb_build_object('passkey_id', \(passkey.uuid), 'remaining', count(*))
            FROM recovery_codes WHERE user_id = \(userID.uuid) AND used_at IS NULL
            """
        )
    }

    private struct LocatorTaken: Error {}

    /// Throws `providerLinkedTooRecently` if the way in that opened the session was added less than a day ago, and there is an older one.
    private func checkWayIn(
        _ session: LinkingSession,
        _ provider: String,
        _ identities: [LockedIdentity],
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        let known = try await passkeys(of: session.userID, in: transaction)
        let asking = try await openedSince(session, by: provider, identities, known, in: transaction)
        let oldest = identities.map(\.linkedAt.milliseconds).min() ?? asking
        try checkAge(removed: oldest, asking: asking, remaining: [oldest], nowMilliseconds)
    }

    private func spendCreation(
        of userID: UserID,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        let wait = try await QuotaStore.spend(
            Self.recoveryCodesPerAccount,
            of: userID.bytes,
            nowMilliseconds: nowMilliseconds,
            in: transaction
        )
        if let wait { throw IdentityError.recovery(.tooManyAttempts(retryAfterMilliseconds: wait)) }
    }

    private func account(
        of code: RecoveryCode,
        in transaction: PostgresTransaction
    ) async throws -> RecoveringAccount? {
        let row = try await transaction.query(
            """
            SELECT hash, user_id, passkey_id, (SELECT told_name FROM provider_identities identity
                    WHERE identity.user_id = code.user_id AND told_name IS NOT NULL ORDER BY created_at LIMIT 1),
                EXISTS (SELECT FROM accounts WHERE accounts.user_id = code.user_id AND blocked_at IS NOT NULL)
            FROM recovery_codes code WHERE locator = \(code.locator)
            """
        ).first
        let found = try row?.decode([UInt8].self, PostgresUUID.self, PostgresUUID?.self, String?.self, Bool.self)
        guard let (hash, userID, added, name, isBlocked) = found, ConstantTime.areEqual(hash, code.hash) else {
            return nil
        }
        if isBlocked { throw IdentityError.signIn(.accountBlocked) }
        return RecoveringAccount(userID: UserID(userID), name: name, added: added.map { PasskeyID($0) })
    }
}
