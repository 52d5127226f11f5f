import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

/// Profiles in PostgreSQL, and the two things that only one user may have.
///
/// Each method is one operation, done whole or not at all. All may be called from any task.
struct ProfileStore: Sendable {
    /// How often a transaction is tried again after PostgreSQL broke a deadlock or a conflict.
    static let retriesMax = 3

    let database: PostgresClient
    let identifiers: IdentifierSource
    let limits: ProfileLimits

    private static let whole = KeyedRead(
        "display_name, username, phone, updated_at",
        from: "profiles",
        key: "user_id",
        keyType: .uuid
    )

    /// A user's profile; an empty one if nothing was told yet. One round trip.
    func profile(of userID: UserID, deadline: Deadline?) async throws -> Profile {
        guard let row = try await database.row(Self.whole, key: ReadKey(userID.uuid), deadline: deadline) else {
            return Profile(userID: userID)
        }
        let (displayName, username, phone, updatedAt) = try row.decode(
            String?.self,
            String?.self,
            String?.self,
            PostgresTimestamp?.self
        )
        return Self.profile(userID, displayName, username, phone, updatedAt)
    }

    /// Whether a user could take a username now; their own they have. One round trip.
    ///
    /// - Parameter userID: nil for somebody who has no profile yet.
    func isFree(_ username: Username, for userID: UserID?, deadline: Deadline?) async throws -> Bool {
        let rows = try await database.query(
            "SELECT user_id FROM usernames WHERE username_key = \(username.key)",
            deadline: deadline
        )
        guard let row = rows.first else { return !limits.reservedUsernames.contains(username) }
        return try UserID(row.decode(0, as: PostgresUUID.self)) == userID
    }

    /// Changes a profile and writes down what others must be told of it, in one transaction.
    ///
    /// Two users can't end with one number or username: the primary keys of `phones` and `usernames` decide, and the
    /// later of two concurrent claims waits until the earlier has committed or rolled back. Claims come before
    /// releases, and numbers before usernames, for everyone: a transaction that others wait for never waits for them. Counts of
    /// an address, which strangers share, come last of what is waited for.
    ///
    /// - Returns: the profile as it is then, and whether others must be told of the change.
    /// - Throws: ``ProfileFault``; then nothing was changed, but for the counts of tries.
    func update(
        _ userID: UserID,
        applying change: ProfileChange,
        by caller: ProfileCaller,
        nowMilliseconds: Int64
    ) async throws -> (profile: Profile, hasEvents: Bool) {
        let outcome: Outcome = try await database.withTransaction(
            retries: Self.retriesMax,
            deadline: caller.deadline
        ) { transaction in
            let (profile, counts) = try await lock(userID, in: transaction)
            guard
                let transition = ProfileTransition.decide(
                    from: profile,
                    applying: change,
                    nowMilliseconds: nowMilliseconds
                )
            else { return .saved(profile, hasEvents: false) }

            if let phone = transition.claimedPhone {
                if let wait = counts.waitMilliseconds(limits, nowMilliseconds: nowMilliseconds) {
                    return .refused(.tooManyAttempts(retryAfterMilliseconds: wait))
                }
                // Before it is known whether the number is free: told only of one kind, it would tell the kind.
                if let wait = try await wait(caller, nowMilliseconds, in: transaction) {
                    return .refused(.tooManyAttempts(retryAfterMilliseconds: wait))
                }
                guard try await claim(phone, for: userID, nowMilliseconds, in: transaction) else {
                    // Returning commits the counts; nothing else was written. The user's counts whatever becomes of
                    // the address', which others may have used up since.
                    if let code = caller.addressCode {
                        _ = try await QuotaStore.spend(
                            limits.addressTries,
                            of: code,
                            nowMilliseconds: nowMilliseconds,
                            in: transaction
                        )
                    }
                    let count = limits.tries.counting(counts.tries, nowMilliseconds: nowMilliseconds)
                    try await save(count, of: userID, in: transaction)
                    return .refused(.phoneTaken)
                }
            }
            if let username = transition.claimedUsername {
                // Throwing rolls back, the claim of the number included.
                guard !limits.reservedUsernames.contains(username),
                    try await claim(username, for: userID, nowMilliseconds, in: transaction)
                else { throw ProfileFault.usernameTaken }
            }
            var claims = counts.claims
            if transition.claimedPhone != nil {
                try await spend(limits.addressClaims, caller, nowMilliseconds, in: transaction)
                claims = limits.claims.counting(claims, nowMilliseconds: nowMilliseconds)
            }
            try await save(transition, claims, nowMilliseconds, in: transaction)
            return .saved(transition.profile, hasEvents: !transition.phoneEvents.isEmpty)
        }
        switch outcome {
        case .saved(let profile, let hasEvents): return (profile, hasEvents)
        case .refused(let fault): throw fault
        }
    }

    /// What a transaction that is to be committed came to.
    private enum Outcome: Sendable {
        /// The profile is as wanted; `hasEvents` if others must be told of it.
        case saved(Profile, hasEvents: Bool)
        /// Nothing was changed, but for the counts of tries.
        case refused(ProfileFault)
    }

    // MARK: - Steps of an update

    /// Locks the user's row until the transaction ends, making it if there is none.
    private func lock(
        _ userID: UserID,
        in transaction: PostgresTransaction
    ) async throws -> (Profile, PhoneCounts) {
        let columns =
            "display_name, username, phone, updated_at, phone_tries, phone_tries_since, phone_claims, phone_claims_since"
        var rows = try await transaction.query(
            "SELECT \(unsafeSQL: columns) FROM profiles WHERE user_id = \(userID.uuid) FOR UPDATE"
        )
        if rows.isEmpty {
            // Whoever made the row in the meantime is waited for, and its row locked.
            rows = try await transaction.execute(
                """
                INSERT INTO profiles (user_id) VALUES (\(userID.uuid))
                ON CONFLICT (user_id) DO UPDATE SET user_id = excluded.user_id
                RETURNING \(unsafeSQL: columns)
                """
            )
        }
        let (displayName, username, phone, updatedAt, tries, triesSince, claims, claimsSince) = try rows[0].decode(
            String?.self,
            String?.self,
            String?.self,
            PostgresTimestamp?.self,
            Int32.self,
            PostgresTimestamp?.self,
            Int32.self,
            PostgresTimestamp?.self
        )
        let counts = PhoneCounts(tries: .stored(tries, triesSince), claims: .stored(claims, claimsSince))
        return (Self.profile(userID, displayName, username, phone, updatedAt), counts)
    }

    /// How long all who come from the caller's address must wait; nil for not at all.
    private func wait(
        _ caller: ProfileCaller,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> Int64? {
        guard let code = caller.addressCode else { return nil }
        for quota in [limits.addressTries, limits.addressClaims] {
            let wait = try await QuotaStore.wait(quota, of: code, nowMilliseconds: nowMilliseconds, in: transaction)
            if let wait { return wait }
        }
        return nil
    }

    /// Counts one more for the address that the call came from, if it is told.
    ///
    /// - Throws: ``ProfileFault/tooManyAttempts(retryAfterMilliseconds:)``, which rolls everything back: whether the number
    ///   was taken isn't told then.
    private func spend(
        _ quota: Quota,
        _ caller: ProfileCaller,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        guard let code = caller.addressCode else { return }
        let wait = try await QuotaStore.spend(quota, of: code, nowMilliseconds: nowMilliseconds, in: transaction)
        if let wait { throw ProfileFault.tooManyAttempts(retryAfterMilliseconds: wait) }
    }

    /// Takes a number that nobody has. False if somebody has it.
    private func claim(
        _ phone: PhoneNumber,
        for userID: UserID,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await transaction.execute(
            """
            INSERT INTO phones (phone, user_id, claimed_at) VALUES (\(phone.digits), \(userID.uuid), \(now))
            ON CONFLICT (phone) DO NOTHING
            """
        )
        return rows.affected == 1
    }

    /// Takes a username that nobody has. False if somebody has it.
    private func claim(
        _ username: Username,
        for userID: UserID,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await transaction.execute(
            """
            INSERT INTO usernames (username_key, user_id, claimed_at) VALUES (\(username.key), \(userID.uuid), \(now))
            ON CONFLICT (username_key) DO NOTHING
            """
        )
        return rows.affected == 1
    }

    private func save(
        _ count: TryLimit.Count,
        of userID: UserID,
        in transaction: PostgresTransaction
    ) async throws {
        let since = PostgresTimestamp(milliseconds: count.windowStartMilliseconds)
        try await transaction.execute(
            """
            UPDATE profiles SET phone_tries = \(Int32(clamping: count.tries)), phone_tries_since = \(since)
            WHERE user_id = \(userID.uuid)
            """
        )
    }

    /// Writes the profile, gives up what it no longer has, and puts the events into the outbox: one round trip.
    private func save(
        _ transition: ProfileTransition,
        _ claims: TryLimit.Count?,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        let profile = transition.profile
        let userID = profile.userID.uuid
        let events = transition.phoneEvents
        let eventIDs = events.map { _ in identifiers.make(EventID.self).uuid }
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        try await transaction.execute(
            """
            WITH freed_phone AS (
                DELETE FROM phones WHERE phone = \(transition.releasedPhone?.digits) AND user_id = \(userID)
            ), freed_username AS (
                DELETE FROM usernames
                WHERE username_key = \(transition.releasedUsername?.key) AND user_id = \(userID)
            ), events AS (
                INSERT INTO outbox (event_id, kind, phone, user_id, created_at)
                SELECT event_id, kind, phone, \(userID), \(now)
                FROM unnest(\(eventIDs), \(events.map(\.kind.rawValue)), \(events.map(\.phone.digits)))
                    WITH ORDINALITY AS event (event_id, kind, phone, position)
                ORDER BY position
            )
            UPDATE profiles
            SET display_name = \(profile.displayName?.value), username = \(profile.username?.value),
                phone = \(profile.phone?.digits),
                updated_at = \(PostgresTimestamp(milliseconds: profile.updatedAtMilliseconds)),
                phone_claims = \(Int32(clamping: claims?.tries ?? 0)),
                phone_claims_since = \(claims.map { PostgresTimestamp(milliseconds: $0.windowStartMilliseconds) })
            WHERE user_id = \(userID)
            """
        )
    }

    private static func profile(
        _ userID: UserID,
        _ displayName: String?,
        _ username: String?,
        _ phone: String?,
        _ updatedAt: PostgresTimestamp?
    ) -> Profile {
        Profile(
            userID: userID,
            displayName: displayName.map(DisplayName.init(stored:)),
            username: username.map(Username.init(stored:)),
            phone: phone.flatMap(PhoneNumber.init(stored:)),
            updatedAtMilliseconds: updatedAt?.milliseconds ?? 0
        )
    }
}
