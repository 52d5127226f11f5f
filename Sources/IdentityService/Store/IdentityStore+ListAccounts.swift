import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// Which accounts an operator lists; nil for all.
struct AccountFilter: Sendable, Hashable {
    var provider: String?
    var isBlocked: Bool?
    var isImported: Bool?
    var isGuest: Bool?
    var createdFromMilliseconds: Int64?
    var createdBeforeMilliseconds: Int64?
}

/// An account in a list.
struct ListedAccount: Sendable, Hashable {
    let userID: UserID
    let number: Int64
    let createdAt: PostgresTimestamp
    let block: StoredBlock?
    let isImported: Bool
    let isGuest: Bool
    /// In order of their names.
    let providers: [String]
}

/// A page of accounts.
struct AccountPage: Sendable, Hashable {
    var accounts: [ListedAccount] = []
    /// Where the next page begins; nil if this is the last.
    var next: AccountCursor?
}

extension IdentityStore {
    /// The most accounts of a page.
    static let accountsPageMax = 200
    /// The most accounts that are looked at for a page, so that a filter that few accounts pass reads no whole table.
    static let accountsSeenMax = 20_000

    /// The accounts that pass a filter, newest first, after those of the page before.
    ///
    /// - Parameter limit: how many, at most ``accountsPageMax``.
    /// - Returns: a page, which may have fewer, or none, and not be the last.
    func accounts(
        _ filter: AccountFilter,
        after cursor: AccountCursor?,
        limit: Int,
        deadline: Deadline?
    ) async throws(PostgresError) -> AccountPage {
        let from = PostgresTimestamp(milliseconds: filter.createdFromMilliseconds ?? .min)
        let before = PostgresTimestamp(milliseconds: filter.createdBeforeMilliseconds ?? .max)
        let lastAt = PostgresTimestamp(microsecondsSince1970: cursor?.createdAtMicroseconds ?? .max)
        let lastID = cursor?.userID.uuid ?? PostgresUUID(high: .max, low: .max)
        // In the text: only so does PostgreSQL take the index of blocked accounts.
        let blocked = filter.isBlocked.map { "AND blocked_at IS \($0 ? "NOT NULL" : "NULL")" } ?? ""
        // What passes first, then the last account that was looked at, if any may follow it.
        let rows = try await database.query(
            """
            WITH seen AS MATERIALIZED (
                SELECT user_id, number, created_at, blocked_at, block_reason, imported_at, guest_until FROM accounts
                WHERE (created_at, user_id) < (\(lastAt), \(lastID)) AND created_at >= \(from) AND created_at < \(before)
                    \(unsafeSQL: blocked)
                ORDER BY created_at DESC, user_id DESC LIMIT \(Int64(Self.accountsSeenMax))
            ), passed AS (
                SELECT * FROM seen
                WHERE (\(filter.isImported)::boolean IS NULL OR (imported_at IS NOT NULL) = \(filter.isImported))
                    AND (\(filter.isGuest)::boolean IS NULL OR (guest_until IS NOT NULL) = \(filter.isGuest))
                    AND (\(filter.provider)::text IS NULL OR EXISTS (SELECT FROM provider_identities identity
                        WHERE identity.user_id = seen.user_id AND provider = \(filter.provider)))
                ORDER BY created_at DESC, user_id DESC LIMIT \(Int64(limit + 1))
            ), last_seen AS (
                SELECT * FROM seen WHERE (SELECT count(*) FROM seen) = \(Int64(Self.accountsSeenMax))
                ORDER BY created_at, user_id LIMIT 1
            )
            SELECT true, user_id, number, created_at, blocked_at, block_reason, imported_at IS NOT NULL,
                guest_until IS NOT NULL, ARRAY(SELECT DISTINCT provider FROM provider_identities identity
                    WHERE identity.user_id = passed.user_id ORDER BY provider)
            FROM passed
            UNION ALL SELECT false, user_id, number, created_at, NULL, NULL, false, false, '{}' FROM last_seen
            ORDER BY 1 DESC, created_at DESC, user_id DESC
            """,
            deadline: deadline
        )
        var page = AccountPage()
        for row in rows {
            let (hasPassed, account) = try Self.listed(row)
            if hasPassed, page.accounts.count < limit {
                page.accounts.append(account)
            } else {
                // There is one more that passes, or more to look at.
                let last = hasPassed ? page.accounts.last ?? account : account
                page.next = AccountCursor(
                    createdAtMicroseconds: last.createdAt.microsecondsSince1970,
                    userID: last.userID
                )
                break
            }
        }
        return page
    }

    private static func listed(_ row: Row) throws(PostgresError) -> (hasPassed: Bool, ListedAccount) {
        let (hasPassed, userID, number, createdAt, blockedAt, reason, isImported, isGuest, providers) = try row.decode(
            Bool.self,
            PostgresUUID.self,
            Int64.self,
            PostgresTimestamp.self,
            PostgresTimestamp?.self,
            String?.self,
            Bool.self,
            Bool.self,
            [String].self
        )
        let account = ListedAccount(
            userID: UserID(userID),
            number: number,
            createdAt: createdAt,
            block: blockedAt.map { StoredBlock(sinceMilliseconds: $0.milliseconds, reason: reason ?? "") },
            isImported: isImported,
            isGuest: isGuest,
            providers: providers
        )
        return (hasPassed, account)
    }
}
