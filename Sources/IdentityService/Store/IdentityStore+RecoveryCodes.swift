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
    /// Wrong codes from one address, over all replicas. Nobody guesses 80 bits: the limit is for the work that they make.
    static let recoveryTriesPerAddress = Quota.daily("recovery_address", countMax: 50)
    /// Wrong codes with the locator of one code.
    static let recoveryTriesPerCode = Quota.daily("recovery_code", countMax: 20)

    /// Replaces the recovery codes of an account.
    ///
    /// - Returns: false if another code has one of the locators, and nothing was done.
    /// - Throws: what the session is refused for, or what the database throws.
    func replaceRecoveryCodes(
        by codes: [RecoveryCode],
        _ session: LinkingSession,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Bool {
        let (user, now) = (session.userID.uuid, PostgresTimestamp(milliseconds: nowMilliseconds))
        do {
            try await database.withTransaction(retries: Self.linkRetriesMax, deadline: deadline) { transaction in
                _ = try await check(session, for: .createRecoveryCodes, now, in: transaction)
                try await checkNotAbsorbing([session.userID], in: transaction)
                try await transaction.execute("DELETE FROM recovery_codes WHERE user_id = \(user)")
                let inserted = try await transaction.execute(
                    """
                    INSERT INTO recovery_codes (locator, user_id, hash, created_at)
                    SELECT locator, \(user), hash, \(now)
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
    /// - Parameter addressCode: the client's address, as a code; those without share a limit.
    /// - Throws: `IdentityError.recovery`, or what the database throws.
    func account(
        of code: RecoveryCode?,
        addressCode: [UInt8]?,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> RecoveringAccount {
        var counts = [(Self.recoveryTriesPerAddress, addressCode ?? Self.everybody)]
        if let code { counts.append((Self.recoveryTriesPerCode, Self.subject(of: code))) }
        let found = try await database.withTransaction(retries: Self.linkRetriesMax, deadline: deadline) {
            [counts] transaction -> RecoveringAccount? in
            for (quota, subject) in counts {
                let wait = try await QuotaStore.wait(
                    quota,
                    of: subject,
                    nowMilliseconds: nowMilliseconds,
                    in: transaction
                )
                if let wait { throw IdentityError.recovery(.tooManyAttempts(retryAfterMilliseconds: wait)) }
            }
            if let code, let account = try await account(of: code, in: transaction) { return account }
            for (quota, subject) in counts {
                _ = try await QuotaStore.spend(quota, of: subject, nowMilliseconds: nowMilliseconds, in: transaction)
            }
            return nil
        }
        guard let found else { throw IdentityError.recovery(.invalid) }
        return found
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

    private func account(
        of code: RecoveryCode,
        in transaction: PostgresTransaction
    ) async throws -> RecoveringAccount? {
        let row = try await transaction.query(
            """
            SELECT hash, user_id, passkey_id, (SELECT told_name FROM provider_identities identity
                WHERE identity.user_id = code.user_id AND told_name IS NOT NULL ORDER BY created_at LIMIT 1)
            FROM recovery_codes code WHERE locator = \(code.locator)
            """
        ).first
        let found = try row?.decode([UInt8].self, PostgresUUID.self, PostgresUUID?.self, String?.self)
        guard let (hash, userID, added, name) = found, ConstantTime.areEqual(hash, code.hash) else { return nil }
        return RecoveringAccount(userID: UserID(userID), name: name, added: added.map { PasskeyID($0) })
    }

    private static func subject(of code: RecoveryCode) -> [UInt8] {
        SHA256.hash(Array("vestibule recovery locator 1\0".utf8) + code.locator)
    }
}
