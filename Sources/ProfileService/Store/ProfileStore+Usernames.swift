import Models
import Postgres
import ProfileDomain
import ServiceKit
import ServiceModels
import ServiceStore

extension ProfileStore {
    /// The answer to a question about a username.
    struct UsernameCheck: Sendable {
        /// Whether the user could take it now; their own counts as free.
        let isFree: Bool
        /// Other free usernames; none if it is free itself.
        let suggestions: [Username]
    }

    /// Takes a free username; otherwise returns who has it.
    ///
    /// - Throws: ``ProfileError/tooManyUsernames(retryAfterMilliseconds:)`` for a user who has asked about too many, whether it is free or
    ///   not.
    func claim(
        _ username: Username,
        for userID: UserID,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> UserID? {
        let quota = limits.usernameChecks
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        // The rule of QuotaStore, here in the statement that takes the name: no further round trip.
        let far = PostgresTimestamp(milliseconds: nowMilliseconds + 2 * quota.windowMilliseconds)
        for _ in 1...Self.claimsMax {
            let claimed = try await transaction.execute(
                """
                INSERT INTO usernames (username_key, user_id, claimed_at)
                SELECT \(username.key), \(userID.uuid), \(now) WHERE NOT EXISTS (
                    SELECT FROM quotas WHERE subject = \(userID.bytes) AND kind = \(quota.kind)
                        AND count >= \(Int32(clamping: quota.countMax)) AND ends_at > \(now) AND ends_at <= \(far))
                ON CONFLICT (username_key) DO NOTHING
                """
            )
            if claimed.affected == 1 { return nil }
            let wait = try await QuotaStore.wait(
                quota,
                of: userID.bytes,
                nowMilliseconds: nowMilliseconds,
                in: transaction
            )
            if let wait { throw ProfileError.tooManyUsernames(retryAfterMilliseconds: wait) }
            // A separate statement, since its snapshot must include what the insertion waited for.
            let holder = try await transaction.query(
                "SELECT user_id FROM usernames WHERE username_key = \(username.key)"
            ).first
            if let holder { return UserID(try holder.decode(0, as: PostgresUUID.self)) }
        }
        throw ProfileError.holderUnknown
    }

    /// Returns whether a user could take a username now, suggests others if not, and counts the question for the user and for the address
    /// that it comes from: for all replicas, and last, since strangers share the address's count.
    ///
    /// - Parameters:
    ///   - userID: nil for a person who has no profile yet.
    ///   - displayName: the name that suggestions resemble; nil for the user's current one.
    /// - Throws: ``ProfileError/tooManyUsernames(retryAfterMilliseconds:)``; then nothing is revealed.
    func check(
        _ username: Username,
        for userID: UserID?,
        displayName: DisplayName? = nil,
        _ caller: ProfileCaller,
        nowMilliseconds: Int64
    ) async throws -> UsernameCheck {
        try await database.withTransaction(retries: Self.retriesMax, deadline: caller.deadline) { transaction in
            let row = try await transaction.query(
                """
                SELECT (SELECT user_id FROM usernames WHERE username_key = \(username.key)),
                    (SELECT display_name FROM profiles WHERE user_id = \(userID?.uuid))
                """
            )[0]
            let (holder, name) = try row.decode(PostgresUUID?.self, String?.self)
            let isFree = holder.map { UserID($0) == userID } ?? !limits.reservedUsernames.contains(username)
            let known = displayName ?? name.map(DisplayName.init(stored:))
            let suggestions = isFree ? [] : try await self.suggestions(for: username, known, in: transaction)
            let counts = [(limits.usernameChecks, userID?.bytes), (limits.addressUsernameChecks, caller.addressCode)]
            for (quota, subject) in counts {
                guard let subject else { continue }
                let wait = try await QuotaStore.spend(
                    quota,
                    of: subject,
                    nowMilliseconds: nowMilliseconds,
                    in: transaction
                )
                if let wait { throw ProfileError.tooManyUsernames(retryAfterMilliseconds: wait) }
            }
            return UsernameCheck(isFree: isFree, suggestions: suggestions)
        }
    }

    /// Free usernames. One round trip.
    private func suggestions(
        for username: Username,
        _ displayName: DisplayName?,
        in transaction: PostgresTransaction
    ) async throws -> [Username] {
        var generator = SystemRandomNumberGenerator()
        let candidates = UsernameSuggestions.candidates(
            for: username,
            displayName: displayName,
            reserved: limits.reservedUsernames,
            using: &generator
        )
        let rows = try await transaction.query(
            "SELECT username_key FROM usernames WHERE username_key = ANY(\(candidates.map(\.key)))"
        )
        let taken = Set(try rows.map { try $0.decode(0, as: String.self) })
        return Array(candidates.filter { !taken.contains($0.key) }.prefix(UsernameSuggestions.countMax))
    }
}
