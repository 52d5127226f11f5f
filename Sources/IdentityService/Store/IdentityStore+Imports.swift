import AccountImport
import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// The limit of a statement of an import.
    static let importStatementLimit: Duration = .seconds(60)
    /// The block reason that operators see for accounts that a former backend had blocked.
    static let importedBlockReason = "imported"
    /// How often a batch is checked again because a user signed in meanwhile with one of its subjects.
    private static let importAttemptsMax = 8
    /// How often a batch is retried after PostgreSQL broke a deadlock.
    private static let importRetriesMax = 5

    /// Undoes a batch that found more than was known when it was checked.
    private struct BatchChanged: Error {}

    /// Creates the missing accounts of a batch, with their identities, in one transaction.
    ///
    /// Existing accounts stay as they are: a user who has signed in since may have linked and unlinked. Identities are taken in the order
    /// of their names, so that two concurrent imports can't deadlock; a sign-in waits with one at most.
    ///
    /// - Parameters:
    ///   - earlier: the existing accounts of the batches before.
    ///   - isDry: whether to change nothing.
    func importAccounts(
        _ candidates: [ImportCandidate],
        source: String,
        earlier: Set<UserID>,
        keepsUnreachable: Bool,
        isDry: Bool,
        nowMilliseconds: Int64
    ) async throws -> ImportVerdicts {
        for _ in 0..<Self.importAttemptsMax {
            do {
                let facts = try await importFacts(candidates)
                let verdicts = ImportVerdicts(
                    candidates,
                    facts,
                    earlier: earlier,
                    keepsUnreachable: keepsUnreachable
                )
                if isDry || verdicts.new.isEmpty { return verdicts }
                try await make(verdicts.new, source: source, nowMilliseconds: nowMilliseconds)
                return verdicts
            } catch is BatchChanged { continue }
        }
        throw ImportError(source, "people sign in with the very subjects that are imported, all the time; try again")
    }

    /// Existing data for the ids and subjects of a batch.
    private func importFacts(_ candidates: [ImportCandidate]) async throws -> ImportFacts {
        let users = candidates.map(\.account.userID.uuid)
        let identities = candidates.flatMap(\.identities)
        var facts = ImportFacts()
        let known = try await database.query(
            """
            SELECT user_id, account.user_id IS NOT NULL, account.imported_at IS NOT NULL
            FROM unnest(\(users)) AS given (user_id)
                LEFT JOIN accounts account USING (user_id) LEFT JOIN account_closings closing USING (user_id)
            WHERE account.user_id IS NOT NULL OR closing.user_id IS NOT NULL
            """,
            deadline: .after(Self.importStatementLimit)
        )
        for row in known {
            let (user, isThere, isImported) = try row.decode(PostgresUUID.self, Bool.self, Bool.self)
            facts.standings[UserID(user)] = isThere ? (isImported ? .imported : .native) : .closed
        }
        guard !identities.isEmpty else { return facts }
        let held = try await database.query(
            """
            SELECT provider, subject, user_id
            FROM unnest(\(identities.map(\.provider)), \(identities.map(\.told.subject))) AS given (provider, subject)
                JOIN provider_identities USING (provider, subject)
            """,
            deadline: .after(Self.importStatementLimit)
        )
        for row in held {
            let (provider, subject, user) = try row.decode(String.self, String.self, PostgresUUID.self)
            facts.holders[.init(provider: provider, subject: subject)] = UserID(user)
        }
        return facts
    }

    private func make(_ new: [ImportCandidate], source: String, nowMilliseconds: Int64) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let users = new.map(\.account.userID.uuid)
        let createdAt = new.map { Self.time($0.account.createdAtMilliseconds, orNow: nowMilliseconds) }
        let blocked = new.map(\.account.isBlocked)
        let renamed = new.filter(\.account.hasNewID)
        let identities = new.flatMap { candidate in candidate.identities.map { (candidate.account, $0) } }
        let emails = identities.map { $0.1.told.email.flatMap { EmailAddress.accept($0) } }
        let firstUses = identities.map { account, identity in
            Self.time(identity.told.createdAtMilliseconds ?? account.createdAtMilliseconds, orNow: nowMilliseconds)
        }
        let lastUses = identities.map { account, identity in
            Self.time(
                identity.told.lastSignInAtMilliseconds ?? identity.told.createdAtMilliseconds
                    ?? account.createdAtMilliseconds,
                orNow: nowMilliseconds
            )
        }
        // One statement: the foreign key from identities to accounts is checked at its end.
        let statement: Query = """
            WITH identity AS (
                INSERT INTO provider_identities (
                    provider, subject, user_id, email, is_email_verified, is_private_email, told_name, created_at,
                    last_sign_in_at)
                SELECT provider, subject, user_id, email, is_verified AND email IS NOT NULL, is_private, told_name,
                    created_at, GREATEST(created_at, last_sign_in_at)
                FROM unnest(\(identities.map(\.1.provider)), \(identities.map(\.1.told.subject)),
                    \(identities.map(\.0.userID.uuid)), \(emails), \(identities.map(\.1.told.isEmailVerified)),
                    \(emails.map { $0.map(EmailAddress.isRelay) ?? false }),
                    \(identities.map { $0.1.told.name.flatMap { try? DisplayName($0).value } }), \(firstUses), \(lastUses))
                    AS given (provider, subject, user_id, email, is_verified, is_private, told_name, created_at,
                        last_sign_in_at)
                ORDER BY provider, subject
                ON CONFLICT DO NOTHING
                RETURNING 1
            ), account AS (
                INSERT INTO accounts (user_id, created_at, imported_at, blocked_at, block_reason)
                SELECT user_id, created_at, \(now), CASE WHEN is_blocked THEN \(now) END,
                    CASE WHEN is_blocked THEN \(Self.importedBlockReason) END
                FROM unnest(\(users), \(createdAt), \(blocked)) AS given (user_id, created_at, is_blocked)
                ORDER BY user_id
                ON CONFLICT DO NOTHING
                RETURNING 1
            ), renamed AS (
                INSERT INTO imported_ids (source, old_id, user_id)
                SELECT \(source), old_id, user_id
                FROM unnest(\(renamed.map(\.account.oldID)), \(renamed.map(\.account.userID.uuid)))
                    AS given (old_id, user_id)
                ON CONFLICT DO NOTHING
            )
            SELECT (SELECT count(*) FROM identity), (SELECT count(*) FROM account)
            """
        try await database.withTransaction(
            retries: Self.importRetriesMax,
            deadline: .after(Self.importStatementLimit)
        ) { transaction in
            let made = try await transaction.execute(statement)[0].decode(Int64.self, Int64.self)
            guard made == (Int64(identities.count), Int64(new.count)) else { throw BatchChanged() }
        }
    }

    /// A time from a former backend; future times become now.
    private static func time(_ milliseconds: Int64?, orNow nowMilliseconds: Int64) -> PostgresTimestamp {
        PostgresTimestamp(milliseconds: min(milliseconds ?? nowMilliseconds, nowMilliseconds))
    }

    /// The next ids that were created for the ids of a source, in the order of the old ones.
    func importedIDs(
        of source: String,
        after oldID: String,
        limit: Int
    ) async throws(PostgresError) -> [(oldID: String, userID: UserID)] {
        let rows = try await database.query(
            """
            SELECT old_id, user_id FROM imported_ids WHERE source = \(source) AND old_id > \(oldID)
            ORDER BY old_id LIMIT \(Int64(limit))
            """,
            deadline: .after(Self.importStatementLimit)
        )
        var ids: [(oldID: String, userID: UserID)] = []
        for row in rows {
            let (oldID, user) = try row.decode(String.self, PostgresUUID.self)
            ids.append((oldID, UserID(user)))
        }
        return ids
    }
}
