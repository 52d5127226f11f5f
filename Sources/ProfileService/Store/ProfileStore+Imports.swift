import AccountImport
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels

extension ProfileStore {
    /// How long a statement of an import may take.
    static let importStatementLimit: Duration = .seconds(60)
    /// How often a batch is retried because a number changed hands meanwhile.
    private static let importAttemptsMax = 8
    private static let importRetriesMax = 5

    /// Rolls back a batch because a user typed a number, or gave a typed one up, after it was checked.
    private struct NumberTyped: Error {}

    // MARK: - Where it is

    /// Where an import continues; nil for one that wasn't begun, or has ended.
    func importPosition(of digest: [UInt8]) async throws -> ImportPosition? {
        let row = try await database.query("SELECT position FROM account_imports WHERE digest = \(digest)").first
        return try row.flatMap { ImportPosition(try $0.decode(0, as: String.self)) }
    }

    /// Deletes the position of an import that has ended, and of others that nobody continued for long.
    func endImport(_ digest: [UInt8], nowMilliseconds: Int64) async throws {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.provenClaimMilliseconds)
        try await database.execute(
            "DELETE FROM account_imports WHERE digest = \(digest) OR updated_at <= \(before)"
        )
    }

    // MARK: - A batch

    /// Writes a batch's profiles, with the number as proven, and the import's position, in one transaction. What a person has chosen here
    /// stays.
    ///
    /// A number that another user typed, or gave up a while ago, is taken from them first, as by any proof, with the same events. Locks are
    /// those of any save: profiles in the order of their ids, then numbers in theirs, then usernames.
    ///
    /// - Parameter tell: called before the commit with the rejected parts.
    func importProfiles(
        _ rows: [ProfileStream.Row],
        _ import: (digest: [UInt8], position: ImportPosition),
        nowMilliseconds: Int64,
        tell: @Sendable ([(row: ProfileStream.Row, reason: ImportReason)]) async throws -> Void
    ) async throws -> ImportedProfiles {
        for _ in 0..<Self.importAttemptsMax {
            try await takeTyped(rows, nowMilliseconds: nowMilliseconds)
            do {
                return try await database.withTransaction(
                    retries: Self.importRetriesMax,
                    deadline: .after(Self.importStatementLimit)
                ) { transaction in
                    let outcome = try await apply(rows, nowMilliseconds, in: transaction)
                    try await enter(`import`.digest, `import`.position, nowMilliseconds, in: transaction)
                    try await tell(outcome.rejections)
                    return outcome
                }
            } catch is NumberTyped { continue }
        }
        throw ProfileError.holderUnknown
    }

    /// The outcome that a batch would have. Changes nothing.
    func wouldImport(_ rows: [ProfileStream.Row]) async throws -> ImportedProfiles {
        let known = try await database.query(
            "SELECT user_id FROM profiles WHERE user_id = ANY(\(rows.map(\.userID.uuid))) AND imported_at IS NOT NULL"
        )
        let imported = Set(try known.map { UserID(try $0.decode(0, as: PostgresUUID.self)) })
        let phones = rows.compactMap { $0.phone?.digits }
        let held = try await database.query(
            "SELECT phone, user_id FROM phones WHERE phone = ANY(\(phones)) AND proven_at IS NOT NULL"
        )
        var holders = try held.reduce(into: [String: UserID]()) { holders, row in
            let (phone, user) = try row.decode(String.self, PostgresUUID.self)
            holders[phone] = UserID(user)
        }
        let names = rows.compactMap { $0.username?.key }
        let taken = try await database.query("SELECT username_key FROM usernames WHERE username_key = ANY(\(names))")
        var keys = Set(try taken.map { try $0.decode(0, as: String.self) })
        var outcome = ImportedProfiles()
        for row in rows {
            if imported.contains(row.userID) {
                outcome.there += 1
                continue
            }
            let before = outcome.rejections.count
            if let phone = row.phone?.digits, holders.updateValue(row.userID, forKey: phone) ?? row.userID != row.userID
            {
                outcome.rejections.append((row, .phoneTaken))
            }
            if let username = row.username {
                let isFree = !limits.reservedUsernames.contains(username) && keys.insert(username.key).inserted
                if !isFree { outcome.rejections.append((row, .usernameTaken)) }
            }
            if outcome.rejections.count == before { outcome.applied += 1 }
        }
        return outcome
    }

    /// Takes numbers for their owners that others have typed, or gave up a while ago: one by one, since it is rare.
    private func takeTyped(_ rows: [ProfileStream.Row], nowMilliseconds: Int64) async throws {
        let wanted = rows.filter { $0.phone != nil }
        guard !wanted.isEmpty else { return }
        let typed = try await database.query(
            """
            SELECT given.position FROM unnest(\(wanted.compactMap { $0.phone?.digits }), \(wanted.map(\.userID.uuid)))
                WITH ORDINALITY AS given (phone, user_id, position)
                LEFT JOIN phones held ON held.phone = given.phone
                LEFT JOIN phone_cool_downs cooling ON cooling.phone = given.phone AND cooling.user_id <> given.user_id
                    AND NOT cooling.was_proven AND cooling.until > \(Self.typedSince(nowMilliseconds))
                LEFT JOIN profiles profile ON profile.user_id = given.user_id
            WHERE held.proven_at IS NULL AND (held.user_id <> given.user_id OR cooling.phone IS NOT NULL)
                AND profile.imported_at IS NULL AND profile.phone IS NULL
            ORDER BY position
            """,
            deadline: .after(Self.importStatementLimit)
        )
        for row in typed {
            let row = wanted[Int(try row.decode(0, as: Int64.self)) - 1]
            guard let phone = row.phone else { continue }
            let claim = ProvenPhone(
                eventID: identifiers.make(),
                userID: row.userID,
                phone: phone,
                proof: .imported
            )
            do {
                _ = try await claimProven(
                    claim,
                    judgement: nil,
                    nowMilliseconds: nowMilliseconds,
                    deadline: .after(Self.importStatementLimit)
                )
            } catch ProfileError.accountClosed { continue }
        }
    }

    // MARK: - Steps of a batch

    /// What is known about the profile of a row.
    private struct Known {
        let hasPhone: Bool
        let hasUsername: Bool
        let isImported: Bool
    }

    private func apply(
        _ rows: [ProfileStream.Row],
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> ImportedProfiles {
        let (known, closed) = try await lockProfiles(rows.map(\.userID), in: transaction)
        var outcome = ImportedProfiles()
        var open: [ProfileStream.Row] = []
        var seen: Set<UserID> = []
        for row in rows {
            if closed.contains(row.userID) {
                outcome.rejections.append((row, .accountClosed))
            } else if known[row.userID]?.isImported == true || !seen.insert(row.userID).inserted {
                outcome.there += 1
            } else {
                open.append(row)
            }
        }
        let wanting = open.filter { known[$0.userID]?.hasPhone == false && $0.phone != nil }
        let landed = try await takeNumbers(wanting, nowMilliseconds, in: transaction)
        let naming = open.filter { row in
            known[row.userID]?.hasUsername == false
                && row.username.map { !limits.reservedUsernames.contains($0) } ?? false
        }
        let named = try await takeUsernames(naming, nowMilliseconds, in: transaction)
        var done: Set<UserID> = []
        for row in open {
            let before = outcome.rejections.count
            if row.phone != nil, known[row.userID]?.hasPhone == false, !landed.contains(row.userID) {
                outcome.rejections.append((row, .phoneTaken))
            }
            if row.username != nil, known[row.userID]?.hasUsername == false, !named.contains(row.userID) {
                outcome.rejections.append((row, .usernameTaken))
            }
            if outcome.rejections.count == before {
                done.insert(row.userID)
                outcome.applied += 1
            }
        }
        try await write(open, landed, named, done, nowMilliseconds, in: transaction)
        return outcome
    }

    /// Locks the profiles until the transaction ends, creating missing ones; returns which accounts were closed.
    private func lockProfiles(
        _ users: [UserID],
        in transaction: PostgresTransaction
    ) async throws -> (known: [UserID: Known], closed: Set<UserID>) {
        let ids = users.map(\.uuid)
        try await transaction.execute(
            """
            INSERT INTO profiles (user_id)
            SELECT user_id FROM unnest(\(ids)) AS given (user_id)
            WHERE NOT EXISTS (SELECT FROM closed_accounts closed WHERE closed.user_id = given.user_id)
            ORDER BY user_id ON CONFLICT DO NOTHING
            """
        )
        let rows = try await transaction.query(
            """
            SELECT user_id, phone IS NOT NULL, username IS NOT NULL, imported_at IS NOT NULL FROM profiles
            WHERE user_id = ANY(\(ids)) ORDER BY user_id FOR UPDATE
            """
        )
        var known: [UserID: Known] = [:]
        for row in rows {
            let (user, hasPhone, hasUsername, isImported) = try row.decode(
                PostgresUUID.self,
                Bool.self,
                Bool.self,
                Bool.self
            )
            known[UserID(user)] = Known(hasPhone: hasPhone, hasUsername: hasUsername, isImported: isImported)
        }
        // The row of a closed account is deleted with it. A separate statement, since the ones before may have waited for that; a row that
        // was created at that moment is deleted again.
        let closed = try await transaction.execute(
            """
            WITH closed AS (SELECT user_id FROM closed_accounts WHERE user_id = ANY(\(ids))), removed AS (
                DELETE FROM profiles WHERE user_id IN (SELECT user_id FROM closed)
            )
            SELECT user_id FROM closed
            """
        )
        return (known, Set(try closed.map { UserID(try $0.decode(0, as: PostgresUUID.self)) }))
    }

    /// Takes free numbers, and returns the users who got theirs.
    private func takeNumbers(
        _ rows: [ProfileStream.Row],
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> Set<UserID> {
        guard !rows.isEmpty else { return [] }
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let phones = rows.compactMap { $0.phone?.digits }
        let landed = try await transaction.execute(
            """
            INSERT INTO phones (phone, user_id, claimed_at, proven_at, proof)
            SELECT phone, user_id, \(now), \(now), \(PhoneProof.imported.rawValue)
            FROM unnest(\(phones), \(rows.map(\.userID.uuid))) WITH ORDINALITY AS given (phone, user_id, position)
            ORDER BY phone, position
            ON CONFLICT (phone) DO NOTHING RETURNING user_id
            """
        )
        if landed.count < rows.count {
            // A separate statement, since its snapshot must include what the insertion waited for.
            let typed = try await transaction.query(
                "SELECT FROM phones WHERE phone = ANY(\(phones)) AND proven_at IS NULL LIMIT 1"
            )
            guard typed.isEmpty else { throw NumberTyped() }
        }
        let givenUp = try await transaction.query(
            """
            SELECT FROM unnest(\(phones), \(rows.map(\.userID.uuid))) AS given (phone, user_id)
                JOIN phone_cool_downs cooling ON cooling.phone = given.phone AND cooling.user_id <> given.user_id
            WHERE NOT cooling.was_proven AND cooling.until > \(Self.typedSince(nowMilliseconds)) LIMIT 1
            """
        )
        guard givenUp.isEmpty else { throw NumberTyped() }
        return Set(try landed.map { UserID(try $0.decode(0, as: PostgresUUID.self)) })
    }

    private func takeUsernames(
        _ rows: [ProfileStream.Row],
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> Set<UserID> {
        guard !rows.isEmpty else { return [] }
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let named = try await transaction.execute(
            """
            INSERT INTO usernames (username_key, user_id, claimed_at)
            SELECT username_key, user_id, \(now)
            FROM unnest(\(rows.compactMap { $0.username?.key }), \(rows.map(\.userID.uuid)))
                WITH ORDINALITY AS given (username_key, user_id, position)
            ORDER BY username_key, position
            ON CONFLICT (username_key) DO NOTHING RETURNING user_id
            """
        )
        return Set(try named.map { UserID(try $0.decode(0, as: PostgresUUID.self)) })
    }

    /// Writes the profiles, and the number events for invites. Webhooks get no events: the operator who imports knows.
    private func write(
        _ rows: [ProfileStream.Row],
        _ landed: Set<UserID>,
        _ named: Set<UserID>,
        _ done: Set<UserID>,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        guard !rows.isEmpty else { return }
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let claimed = rows.filter { landed.contains($0.userID) }
        let phones = rows.map { landed.contains($0.userID) ? $0.phone?.digits : nil }
        let usernames = rows.map { named.contains($0.userID) ? $0.username?.value : nil }
        try await transaction.execute(
            """
            WITH cooled AS (
                DELETE FROM phone_cool_downs WHERE phone = ANY(\(claimed.compactMap { $0.phone?.digits }))
            ), told AS (
                INSERT INTO work (queue, event_id, key, user_id, created_at, trace, data)
                SELECT \(PhoneEventWork.queue), event_id, phone, user_id, \(now), \(Traces.current),
                    jsonb_build_object('kind', \(PhoneEvent.Kind.claimed.rawValue), 'is_proven', true)
                FROM unnest(\(claimed.map { _ in identifiers.make(EventID.self).uuid }),
                    \(claimed.compactMap { $0.phone?.digits }), \(claimed.map(\.userID.uuid)))
                    WITH ORDINALITY AS event (event_id, phone, user_id, position)
                ORDER BY position
            )
            UPDATE profiles profile SET
                display_name = COALESCE(profile.display_name, given.display_name),
                phone = COALESCE(profile.phone, given.phone),
                proven_phone = CASE WHEN given.phone IS NULL THEN profile.proven_phone ELSE given.phone END,
                phone_taken_at = CASE WHEN given.phone IS NULL THEN profile.phone_taken_at END,
                username = COALESCE(profile.username, given.username),
                imported_at = CASE WHEN given.is_done THEN \(now) END,
                updated_at = GREATEST(profile.updated_at, \(now)), revision = profile.revision + 1
            FROM unnest(\(rows.map(\.userID.uuid)), \(rows.map { $0.displayName?.value }), \(phones), \(usernames),
                \(rows.map { done.contains($0.userID) }))
                AS given (user_id, display_name, phone, username, is_done)
            WHERE profile.user_id = given.user_id
            """
        )
    }

    private func enter(
        _ digest: [UInt8],
        _ position: ImportPosition,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        try await transaction.execute(
            """
            INSERT INTO account_imports (digest, position, updated_at) VALUES (\(digest), \(position.description), \(now))
            ON CONFLICT (digest) DO UPDATE SET position = excluded.position, updated_at = excluded.updated_at
            """
        )
    }
}
