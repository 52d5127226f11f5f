import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

/// Profiles in PostgreSQL, and their unique fields: number and username.
///
/// Each method is one operation, done whole or not at all. All may be called from any task.
struct ProfileStore: Sendable {
    /// How often a transaction is retried after PostgreSQL broke a deadlock or a conflict.
    static let retriesMax = 3

    let database: PostgresClient
    let identifiers: IdentifierSource
    let limits: ProfileLimits
    /// The fields of a complete profile.
    let required: RequiredFields

    private static let whole = KeyedRead(
        profileColumns,
        from: "profiles",
        key: "user_id",
        keyType: .uuid
    )

    /// A user's profile; an empty one if the user gave no data yet. One round trip.
    func profile(of userID: UserID, deadline: Deadline?) async throws -> Profile {
        guard let row = try await database.row(Self.whole, key: ReadKey(userID.uuid), deadline: deadline) else {
            return Profile(userID: userID)
        }
        return try Self.profile(userID, row)
    }

    /// Changes a profile and writes the events for others, in one transaction.
    ///
    /// Two users can't end with one number or username: the primary keys of `phones` and `usernames` decide, and the
    /// later of two concurrent claims waits until the earlier has committed or rolled back. Claims come before
    /// releases, and numbers before usernames, for everyone: a transaction that others wait for never waits for them. Counts of
    /// an address, which strangers share, come last of what is waited for.
    ///
    /// - Returns: the profile as it is then, and whether events must be delivered; or who has what was claimed, and then nothing was
    ///   changed, except for the counts of tries.
    /// - Throws: ``ProfileError``; then nothing was changed, except for the counts of tries.
    func update(
        _ userID: UserID,
        applying change: ProfileChange,
        by caller: ProfileCaller,
        nowMilliseconds: Int64
    ) async throws -> UpdateOutcome {
        let outcome: Outcome
        do {
            outcome = try await attempt(userID, applying: change, by: caller, nowMilliseconds: nowMilliseconds)
        } catch let held as UsernameHeld {
            return .held(by: held.by, .usernameTaken())
        }
        switch outcome {
        case .saved(let profile, let hasEvents): return .saved(profile, hasEvents: hasEvents)
        case .held(let holder, let fault): return .held(by: holder, fault)
        case .refused(let fault): throw fault
        }
    }

    private func attempt(
        _ userID: UserID,
        applying change: ProfileChange,
        by caller: ProfileCaller,
        nowMilliseconds: Int64
    ) async throws -> Outcome {
        try await database.withTransaction(
            retries: Self.retriesMax,
            deadline: caller.deadline
        ) { transaction in
            let (profile, counts) = try await lock(userID, in: transaction)
            guard
                let transition = try ProfileTransition.decide(
                    from: profile,
                    applying: change,
                    nowMilliseconds: nowMilliseconds
                )
            else { return .saved(profile, hasEvents: false) }

            if let phone = transition.claimedPhone {
                if let wait = counts.waitMilliseconds(limits, nowMilliseconds: nowMilliseconds) {
                    return .refused(.tooManyAttempts(retryAfterMilliseconds: wait))
                }
                // Before it is known whether the number is free: an error for only one of the cases would reveal it.
                if let wait = try await wait(caller, nowMilliseconds, in: transaction) {
                    return .refused(.tooManyAttempts(retryAfterMilliseconds: wait))
                }
                if let username = transition.claimedUsername {
                    try await require(username, for: userID, nowMilliseconds, in: transaction)
                }
                if let holder = try await claim(phone, for: userID, nowMilliseconds, in: transaction) {
                    // Returning commits the counts; nothing else was written. The user's counts stay, whatever happens to the address's
                    // count, which others may have used up since.
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
                    return .held(by: holder, .phoneTaken)
                }
            }
            if let username = transition.claimedUsername {
                // Throwing rolls back, the claim of the number included.
                if limits.reservedUsernames.contains(username) { throw ProfileError.usernameTaken() }
                if let holder = try await claim(username, for: userID, nowMilliseconds, in: transaction) {
                    throw UsernameHeld(by: holder)
                }
            }
            var claims = counts.claims
            if transition.claimedPhone != nil {
                try await spend(limits.addressClaims, caller, nowMilliseconds, in: transaction)
                claims = limits.claims.counting(claims, nowMilliseconds: nowMilliseconds)
            }
            if transition.releasedPhone != nil { try await coolDown(profile, nowMilliseconds, in: transaction) }
            try await save(transition, claims, told(of: transition, from: profile), nowMilliseconds, in: transaction)
            if let upload = transition.droppedUpload { try await forget(upload, of: userID, in: transaction) }
            return .saved(transition.profile, hasEvents: !transition.phoneEvents.isEmpty)
        }
    }

    /// The outcome of a transaction that is to be committed.
    private enum Outcome: Sendable {
        /// The profile is as wanted; `hasEvents` if events must be delivered.
        case saved(Profile, hasEvents: Bool)
        /// Another user has what was claimed. Nothing was changed, except for the counts of tries.
        case held(by: UserID, ProfileError)
        /// Nothing was changed, except for the counts of tries.
        case refused(ProfileError)
    }

    /// Rolls back a transaction because another user has the username.
    private struct UsernameHeld: Error {
        let by: UserID
    }

    // MARK: - Steps of an update

    /// Judges a username that is claimed together with a number before the number is checked. Otherwise a name that is certainly taken
    /// would roll back the claim of a free number, and its count with it, and the responses would reveal one number after the other.
    private func require(
        _ username: Username,
        for userID: UserID,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        if limits.reservedUsernames.contains(username) { throw ProfileError.usernameTaken() }
        let wait = try await QuotaStore.wait(
            limits.usernameChecks,
            of: userID.bytes,
            nowMilliseconds: nowMilliseconds,
            in: transaction
        )
        if let wait { throw ProfileError.tooManyUsernames(retryAfterMilliseconds: wait) }
        let rows = try await transaction.query("SELECT user_id FROM usernames WHERE username_key = \(username.key)")
        guard let row = rows.first else { return }
        let holder = UserID(try row.decode(0, as: PostgresUUID.self))
        if holder != userID { throw UsernameHeld(by: holder) }
    }

    /// Locks the user's row until the transaction ends, creating it if there is none.
    func lock(
        _ userID: UserID,
        in transaction: PostgresTransaction
    ) async throws -> (Profile, PhoneCounts) {
        let columns = Self.profileColumns + ", " + PhoneCounts.columns
        var rows = try await transaction.query(
            "SELECT \(unsafeSQL: columns) FROM profiles WHERE user_id = \(userID.uuid) FOR UPDATE"
        )
        if rows.isEmpty {
            // If another transaction created the row in the meantime, this waits for it and locks the row.
            rows = try await transaction.execute(
                """
                INSERT INTO profiles (user_id) VALUES (\(userID.uuid))
                ON CONFLICT (user_id) DO UPDATE SET user_id = excluded.user_id
                RETURNING \(unsafeSQL: columns)
                """
            )
            // The row of a closed account is deleted with the account, so only one without a row may be closed. A separate statement, since
            // the one before may have waited for the closing.
            let closed = try await transaction.query("SELECT FROM closed_accounts WHERE user_id = \(userID.uuid)")
            guard closed.isEmpty else { throw ProfileError.accountClosed }
        }
        return (try Self.profile(userID, rows[0]), try PhoneCounts(rows[0], from: Self.profileColumnCount))
    }

    /// How long all users of the caller's address must wait; nil for not at all.
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

    /// Counts one more for the address of the call, if it is known.
    ///
    /// - Throws: ``ProfileError/tooManyAttempts(retryAfterMilliseconds:)``, which rolls everything back: the error doesn't reveal whether
    ///   the number was taken.
    private func spend(
        _ quota: Quota,
        _ caller: ProfileCaller,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        guard let code = caller.addressCode else { return }
        let wait = try await QuotaStore.spend(quota, of: code, nowMilliseconds: nowMilliseconds, in: transaction)
        if let wait { throw ProfileError.tooManyAttempts(retryAfterMilliseconds: wait) }
    }

    /// Takes a number that is free, and that no other user gave up a moment ago; otherwise returns who has it, or had it.
    ///
    /// A claim at the very moment of the release may not see the release, and get the number at once: only a claim already in progress can,
    /// and nobody can time that.
    private func claim(
        _ phone: PhoneNumber,
        for userID: UserID,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> UserID? {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return try await holder(
            """
            INSERT INTO phones (phone, user_id, claimed_at) SELECT \(phone.digits), \(userID.uuid), \(now)
            WHERE NOT EXISTS (
                SELECT FROM phone_cool_downs
                WHERE phone = \(phone.digits) AND user_id <> \(userID.uuid) AND until > \(now))
            ON CONFLICT (phone) DO NOTHING
            """,
            """
            SELECT user_id FROM phones WHERE phone = \(phone.digits)
            UNION ALL SELECT user_id FROM phone_cool_downs
            WHERE phone = \(phone.digits) AND user_id <> \(userID.uuid) AND until > \(now)
            LIMIT 1
            """,
            in: transaction
        )
    }

    /// How often a claim is retried when its holder is gone at the check.
    static let claimsMax = 3

    /// Runs an insertion that does nothing if a user has the key; then returns who has it, or nil if no user had.
    private func holder(
        _ insertion: Query,
        _ question: Query,
        in transaction: PostgresTransaction
    ) async throws -> UserID? {
        for _ in 1...Self.claimsMax {
            if try await transaction.execute(insertion).affected == 1 { return nil }
            // A separate statement, since its snapshot must include what the insertion waited for.
            if let row = try await transaction.query(question).first {
                return UserID(try row.decode(0, as: PostgresUUID.self))
            }
        }
        throw ProfileError.holderUnknown
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

    /// The webhook events of a change, for targets that want them.
    func told(of transition: ProfileTransition, from profile: Profile) -> [ServiceEventType] {
        var types: [ServiceEventType] = []
        if transition.profile.phone != profile.phone { types.append(.phoneChanged) }
        if !required.missing(in: profile).isEmpty, required.missing(in: transition.profile).isEmpty {
            types.append(.profileCompleted)
        }
        return types
    }

    /// Writes the profile, gives up what it no longer has, and puts the events into the outboxes: one round trip. Events that no webhook
    /// target wants are not written.
    private func save(
        _ transition: ProfileTransition,
        _ claims: TryLimit.Count?,
        _ told: [ServiceEventType],
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        let profile = transition.profile
        let userID = profile.userID.uuid
        let events = transition.phoneEvents
        let eventIDs = events.map { _ in identifiers.make(EventID.self).uuid }
        let toldIDs = told.map { _ in identifiers.make(EventID.self).uuid }
        let trace = Traces.current
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let changesPhone = transition.claimedPhone != nil || transition.releasedPhone != nil
        try await transaction.execute(
            """
            WITH freed_phone AS (
                DELETE FROM phones WHERE phone = \(transition.releasedPhone?.digits) AND user_id = \(userID)
            ), freed_username AS (
                DELETE FROM usernames
                WHERE username_key = \(transition.releasedUsername?.key) AND user_id = \(userID)
            ), events AS (
                INSERT INTO work (queue, event_id, key, user_id, created_at, trace, data)
                SELECT \(PhoneEventWork.queue), event_id, phone, \(userID), \(now), \(trace), jsonb_build_object('kind', kind)
                FROM unnest(\(eventIDs), \(events.map(\.kind.rawValue)), \(events.map(\.phone.digits)))
                    WITH ORDINALITY AS event (event_id, kind, phone, position)
                ORDER BY position
            ), told AS (
                INSERT INTO work (queue, event_id, user_id, created_at, trace, data)
                SELECT \(ServiceEventWork.queue), event_id, \(userID), \(now), \(trace), jsonb_build_object('type', type)
                FROM unnest(\(toldIDs), \(told.map(\.rawValue))) AS event (event_id, type) JOIN wanted_events USING (type)
            )
            UPDATE profiles
            SET display_name = \(profile.displayName?.value), username = \(profile.username?.value),
                phone = \(profile.phone?.digits), proven_phone = \(profile.isPhoneProven ? profile.phone?.digits : nil),
                phone_taken_at = \(profile.phoneTakenAtMilliseconds.map { PostgresTimestamp(milliseconds: $0) }),
                avatar = \(profile.avatar?.value), revision = \(profile.revision),
                updated_at = \(PostgresTimestamp(milliseconds: profile.updatedAtMilliseconds)),
                phone_chosen_at = COALESCE(\(changesPhone ? now : nil), phone_chosen_at),
                phone_claims = \(Int32(clamping: claims?.tries ?? 0)),
                phone_claims_since = \(claims.map { PostgresTimestamp(milliseconds: $0.windowStartMilliseconds) })
            WHERE user_id = \(userID)
            """
        )
    }
}
