import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels
import WebAuthn

/// A passkey of an account, as it is listed.
struct AccountPasskey: Sendable, Hashable {
    let id: PasskeyID
    let credentialID: [UInt8]
    let transports: [String]
    let name: String?
    let createdAt: PostgresTimestamp
    let lastUsedAt: PostgresTimestamp?
    let isBackedUp: Bool
    let relyingParty: String
}

/// By what a passkey is added to an account, or removed from it.
enum PasskeyGround: Sendable {
    /// A live session of the account.
    case session(LinkingSession)
    /// A recovery code of the account.
    case recoveryCode(RecoveryCode, UserID)

    /// The account.
    var userID: UserID {
        switch self {
        case .session(let session): session.userID
        case .recoveryCode(_, let userID): userID
        }
    }

    /// How many passkeys the account may have before: a full list keeps nobody out who has nothing left but codes.
    var passkeysMax: Int {
        switch self {
        case .session: PasskeySettings.countMax
        case .recoveryCode: PasskeySettings.countMax + RecoveryCode.count
        }
    }

    fileprivate var byRecoveryCode: Bool {
        if case .recoveryCode = self { true } else { false }
    }

    fileprivate var sessionID: SessionID? {
        if case .session(let session) = self { session.sessionID } else { nil }
    }
}

extension [AccountPasskey] {
    /// Whether an account with these may add one. Those of another relying party open nothing, and keep out none of this one.
    func hasRoom(of party: String, max: Int) -> Bool {
        count < PasskeySettings.countInAllMax && count { $0.relyingParty == party } < max
    }
}

extension IdentityStore {
    /// The passkeys of an account, the oldest first.
    func passkeys(of userID: UserID, deadline: Deadline?) async throws -> [AccountPasskey] {
        try await Self.listed(database.query(Self.passkeysStatement(of: userID), deadline: deadline))
    }

    /// The user handle of an account's passkeys: the id of the account, or of the one that it has absorbed with its passkeys.
    func passkeyHandle(of userID: UserID, deadline: Deadline?) async throws -> UserID {
        let row = try await database.query(
            """
            SELECT subject FROM provider_identities
            WHERE user_id = \(userID.uuid) AND provider = \(ProviderName.passkey.value)
            """,
            deadline: deadline
        ).first
        return try row.flatMap { UserID(try $0.decode(String.self)) } ?? userID
    }

    /// Throws unless a session may add a passkey now, as ``addPasskey(_:id:name:for:under:by:nowMilliseconds:deadline:)`` would.
    func checkMayAddPasskey(_ session: LinkingSession, nowMilliseconds: Int64, deadline: Deadline?) async throws {
        try await database.withTransaction(retries: Self.linkRetriesMax, deadline: deadline) { transaction in
            _ = try await check(
                session,
                for: .addPasskey,
                PostgresTimestamp(milliseconds: nowMilliseconds),
                in: transaction
            )
            try await checkNotAbsorbing([session.userID], in: transaction)
        }
    }

    /// Adds a passkey to an account. The account gets an identity ``ProviderName/passkey`` with its first one.
    ///
    /// Locks are taken as by ``unlink(_:from:configured:nowMilliseconds:deadline:)``, so that of concurrent calls each sees the ones before.
    /// Only the check for a credential of another account isn't safe against the same credential at the same moment: then both accounts
    /// have it, and a sign-in names the account by its user handle.
    ///
    /// - Parameters:
    ///   - handle: the user handle that the options had.
    ///   - ground: by what it is added. A recovery code is used up.
    /// - Returns: the passkey; the one that is there if the account has the credential already.
    /// - Throws: `IdentityError.passkey` with `tooMany`, `rejected` for another handle, or `taken`, or of the ground; or what the database
    ///   throws.
    func addPasskey(
        _ passkey: NewPasskey,
        id: PasskeyID,
        name: String?,
        for party: String,
        under handle: UserID,
        by ground: PasskeyGround,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> AccountPasskey {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let userID = ground.userID
        return try await database.withTransaction(retries: Self.linkRetriesMax, deadline: deadline) { transaction in
            let identities = try await lockIdentities(of: [userID], in: transaction)
            let known: [AccountPasskey]
            switch ground {
            case .session(let session):
                _ = try await check(session, for: .addPasskey, now, in: transaction)
                known = try await passkeys(of: userID, in: transaction)
            case .recoveryCode(let code, _):
                let used = try await use(code, of: userID, in: transaction)
                known = try await passkeys(of: userID, in: transaction)
                if let used {
                    let added = known.first { $0.id == used && $0.credentialID == passkey.credentialID }
                    guard let added else { throw IdentityError.recovery(.invalid) }
                    return added
                }
            }
            try await checkNotAbsorbing([userID], in: transaction)
            if let same = known.first(where: { $0.credentialID == passkey.credentialID }) { return same }
            guard known.hasRoom(of: party, max: ground.passkeysMax) else { throw IdentityError.passkey(.tooMany) }
            let isTaken = try await !transaction.query(
                "SELECT FROM passkeys WHERE credential_id = \(passkey.credentialID) LIMIT 1"
            ).isEmpty
            guard !isTaken else { throw IdentityError.passkey(.taken) }
            let identity = identities.first { $0.provider == ProviderName.passkey.value }
            let subject = identity?.subject ?? userID.description
            // The options named another one, which the authenticator keeps: after a merge, or a removal of all.
            guard subject == handle.description else { throw IdentityError.passkey(.rejected) }
            if identity == nil {
                let rows = try await transaction.execute(
                    """
                    INSERT INTO provider_identities (
                        provider, subject, user_id, is_email_verified, is_private_email, created_at, last_sign_in_at)
                    VALUES (\(ProviderName.passkey.value), \(subject), \(userID.uuid), false, false, \(now), \(now))
                    ON CONFLICT (provider, subject) DO NOTHING
                    """
                )
                guard rows.affected == 1 else { throw IdentityError.passkey(.taken) }
            }
            try await insert(
                passkey,
                id: id,
                name: name,
                for: party,
                subject: subject,
                byRecoveryCode: ground.byRecoveryCode,
                now,
                in: transaction
            )
            if case .recoveryCode(let code, _) = ground {
                try await noteUse(of: code, by: userID, adding: id, now, in: transaction)
            }
            try await note(.providerLinked, of: id, by: ground, party: party, now, in: transaction)
            return AccountPasskey(
                id: id,
                credentialID: passkey.credentialID,
                transports: passkey.transports,
                name: name,
                createdAt: now,
                lastUsedAt: nil,
                isBackedUp: passkey.isBackedUp,
                relyingParty: party
            )
        }
    }

    /// Gives a passkey of an account another name; nil if the account has no such passkey.
    func renamePasskey(
        _ id: PasskeyID,
        of userID: UserID,
        to name: String,
        deadline: Deadline?
    ) async throws -> AccountPasskey? {
        let rows = try await database.execute(
            """
            UPDATE passkeys SET name = \(name)
            WHERE passkey_id = \(id.uuid) AND subject IN (SELECT subject FROM provider_identities
                WHERE user_id = \(userID.uuid) AND provider = \(ProviderName.passkey.value))
            RETURNING \(unsafeSQL: Self.passkeyColumns)
            """,
            deadline: deadline
        )
        return try Self.listed(rows).first
    }

    /// Removes a passkey from an account, and ends the sessions that it opened. The last one goes as its identity is unlinked. Announce
    /// the end of sessions afterwards.
    ///
    /// - Returns: whether the caller's session ended, too.
    /// - Throws: `IdentityError.passkey(.notFound)`, or what ``unlink(_:from:configured:nowMilliseconds:deadline:)`` throws.
    func removePasskey(
        _ id: PasskeyID,
        by session: LinkingSession,
        configured: WaysIn,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Bool {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return try await database.withTransaction(retries: Self.linkRetriesMax, deadline: deadline) { transaction in
            let identities = try await lockIdentities(of: [session.userID], in: transaction)
            let askingProvider = try await check(session, for: .unlinkProvider, now, in: transaction)
            let known = try await passkeys(of: session.userID, in: transaction)
            guard let removed = known.first(where: { $0.id == id }) else { throw IdentityError.passkey(.notFound) }
            guard known.count > 1, let identity = identities.first(where: { $0.provider == ProviderName.passkey.value })
            else {
                _ = try await unlink(.passkey, from: session, configured: configured, nowMilliseconds, in: transaction)
                return askingProvider == ProviderName.passkey.value
            }
            try await checkNotAbsorbing([session.userID], in: transaction)
            let remaining = configured.times(of: identities, passkeys: known.filter { $0.id != id })
            guard !remaining.isEmpty else { throw IdentityError.link(.lastProvider) }
            try checkAge(
                removed: removed.addedMilliseconds(to: identity),
                asking: try await openedSince(session, by: askingProvider, identities, known, in: transaction),
                remaining: remaining,
                nowMilliseconds
            )
            let hasEnded = try await endSessions(of: id, session, now, in: transaction)
            try await deleteRecoveryCodes(of: session.userID, madeBy: .passkey, id, in: transaction)
            try await transaction.execute(
                "DELETE FROM passkeys WHERE subject = \(identity.subject) AND credential_id = \(removed.credentialID)"
            )
            try await note(.providerUnlinked, of: id, by: .session(session), party: nil, now, in: transaction)
            return hasEnded
        }
    }

    /// The passkeys of an account whose identities are locked.
    func passkeys(of userID: UserID, in transaction: PostgresTransaction) async throws -> [AccountPasskey] {
        try await Self.listed(transaction.query(Self.passkeysStatement(of: userID)))
    }

    // MARK: - Steps

    private static let passkeyColumns =
        "passkey_id, credential_id, transports, name, created_at, last_used_at, is_backed_up, rp_id"

    private static func passkeysStatement(of userID: UserID) -> Query {
        """
        SELECT \(unsafeSQL: passkeyColumns) FROM passkeys
        WHERE subject IN (SELECT subject FROM provider_identities
            WHERE user_id = \(userID.uuid) AND provider = \(ProviderName.passkey.value))
        ORDER BY created_at, passkey_id
        """
    }

    private static func listed(_ rows: Rows) throws -> [AccountPasskey] {
        try rows.map { row in
            let (id, credentialID, transports, name, createdAt, lastUsedAt, isBackedUp, party) = try row.decode(
                PostgresUUID.self,
                [UInt8].self,
                [String].self,
                String?.self,
                PostgresTimestamp.self,
                PostgresTimestamp?.self,
                Bool.self,
                String.self
            )
            return AccountPasskey(
                id: PasskeyID(id),
                credentialID: credentialID,
                transports: transports,
                name: name,
                createdAt: createdAt,
                lastUsedAt: lastUsedAt,
                isBackedUp: isBackedUp,
                relyingParty: party
            )
        }
    }

    private func insert(
        _ passkey: NewPasskey,
        id: PasskeyID,
        name: String?,
        for party: String,
        subject: String,
        byRecoveryCode: Bool,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        let aaguid = PostgresUUID(bytes: passkey.aaguid) ?? PostgresUUID(high: 0, low: 0)
        try await transaction.execute(
            """
            INSERT INTO passkeys (subject, credential_id, passkey_id, rp_id, public_key, sign_count, is_backup_eligible,
                is_backed_up, aaguid, transports, name, created_at, by_recovery_code)
            VALUES (\(subject), \(passkey.credentialID), \(id.uuid), \(party), \(passkey.publicKey),
                \(Int64(passkey.signCount)), \(passkey.isBackupEligible), \(passkey.isBackedUp), \(aaguid),
                \(passkey.transports), \(name), \(now), \(byRecoveryCode))
            """
        )
    }

    /// Ends the sessions that a passkey opened; returns whether the one that asks is among them. Rows are locked in the order of their
    /// ids, as by all that end several sessions.
    private func endSessions(
        of passkey: PasskeyID,
        _ session: LinkingSession,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        let rows = try await transaction.query(
            """
            SELECT session_id FROM sessions
            WHERE user_id = \(session.userID.uuid) AND passkey_id = \(passkey.uuid) AND revoked_at IS NULL
            ORDER BY session_id FOR UPDATE
            """
        )
        try await transaction.execute(
            """
            UPDATE sessions SET revoked_at = \(now), revoke_reason = \(SessionEnd.unlinked.rawValue),
                expires_at = LEAST(expires_at, \(now))
            WHERE user_id = \(session.userID.uuid) AND passkey_id = \(passkey.uuid) AND revoked_at IS NULL
            """
        )
        return try rows.contains { try SessionID($0.decode(PostgresUUID.self)) == session.sessionID }
    }

    private func note(
        _ event: SecurityEvent,
        of passkey: PasskeyID,
        by ground: PasskeyGround,
        party: String?,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(
            """
            INSERT INTO security_events (event_id, user_id, session_id, kind, occurred_at, details)
            VALUES (security_event_id(\(now), false), \(ground.userID.uuid), \(ground.sessionID?.uuid),
                \(event.rawValue), \(now), jsonb_strip_nulls(jsonb_build_object(
                    'provider', \(ProviderName.passkey.value), 'client_id', \(party), 'passkey_id', \(passkey.uuid))))
            """
        )
    }
}
