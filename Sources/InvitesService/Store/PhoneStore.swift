import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels

/// The owners of numbers, and the linking of people who wait for a number, in PostgreSQL.
struct PhoneStore: Sendable {
    let database: PostgresClient
    let identifiers: IdentifierSource
    /// The maximum of groups that a user is a member of.
    let membershipsMax: Int

    /// Applies events that weren't applied before, in one transaction, and returns how many pending members became members.
    func apply(_ events: [PhoneEvent], nowMilliseconds: Int64, deadline: Deadline?) async throws -> Int {
        guard !events.isEmpty else { return 0 }
        var further: Set<PhoneNumber> = []
        for _ in 0...ConflictRetry.racesMax {
            let locked = further
            do {
                return try await database.withTransaction(
                    retries: ConflictRetry.retriesMax,
                    orAfter: ConflictRetry.isRace,
                    deadline: deadline
                ) { try await apply(events, locking: locked, nowMilliseconds, in: $0) }
            } catch let unlocked as UnlockedNumbers { further.formUnion(unlocked.phones) }
        }
        throw PostgresError.unavailable("numbers that come back with a place changed again and again")
    }

    /// Places come back by numbers that are in no event: the transaction restarts and locks these numbers too, in the usual order.
    struct UnlockedNumbers: Error {
        let phones: Set<PhoneNumber>
    }

    private func apply(
        _ events: [PhoneEvent],
        locking further: Set<PhoneNumber>,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> Int {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let fresh = try await ofOpenAccounts(try await enter(events, now, in: transaction), in: transaction)
        guard !fresh.isEmpty else { return 0 }
        var owners = try await Self.lock(fresh.map(\.phone) + further, in: transaction)
        let ledger = PhoneLedger(applying: fresh, owners: owners)
        try await save(ledger.standings, in: transaction)
        try await forget(ledger.forgottenPhones, in: transaction)
        for (phone, owner) in ledger.changedOwners { owners[phone] = owner }
        let linkedCount = try await carryOut(
            ledger,
            owners,
            locked: further.union(fresh.map(\.phone)),
            now,
            in: transaction
        )
        // A release leaves a number that no user has, and mostly no group awaits.
        let nobodys = Set(fresh.map(\.phone)).filter { owners[$0] == nil }.subtracting(ledger.forgottenPhones)
        try await Self.forgetUnused(Array(nobodys), in: transaction)
        return linkedCount
    }

    /// Applies the effects of the events, and returns how many pending members became members.
    ///
    /// - Parameter owners: the user who has each of the numbers now.
    private func carryOut(
        _ ledger: PhoneLedger,
        _ owners: [PhoneNumber: UserID],
        locked: Set<PhoneNumber>,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws -> Int {
        guard ledger.hasLosses else {
            var links: [PhoneLedger.Link] = []
            for link in ledger.steps.flatMap(\.links) where !links.contains(link) { links.append(link) }
            let places = try await Self.lockGroups(waitingFor: links, in: transaction)
            if places.hasDoubts { try await settle(links, in: transaction) }
            guard places.areThere else { return 0 }
            return try await Self.link(links, now, membershipsMax: membershipsMax, in: transaction)
        }
        try await lockGroups(of: ledger, in: transaction)
        var linkedCount = 0
        var lost = LostPlaces()
        for step in ledger.steps {
            let again = try await apply(step.losses, now, &lost, in: transaction)
            let unlocked = again.subtracting(locked)
            guard unlocked.isEmpty else { throw UnlockedNumbers(phones: unlocked) }
            try await settle(step.links, in: transaction)
            let back = again.subtracting(step.links.map(\.phone)).sorted { $0.digits < $1.digits }
                .compactMap { phone in owners[phone].map { PhoneLedger.Link(phone: phone, userID: $0) } }
            linkedCount += try await Self.link(
                step.links + back,
                now,
                membershipsMax: membershipsMax,
                in: transaction
            )
        }
        try await disown(lost, now.milliseconds, in: transaction)
        return linkedCount
    }

    /// Deletes events that were applied before a time, at most `limit` of them, and returns how many.
    ///
    /// An event is retried within seconds or, after an outage, until it was answered. If one arrives after its record here was deleted, it
    /// is applied again with the ones behind it, and the result is the same.
    func forgetEvents(appliedBeforeMilliseconds: Int64, limit: Int) async throws -> Int {
        let time = PostgresTimestamp(milliseconds: appliedBeforeMilliseconds)
        let rows = try await database.execute(
            """
            DELETE FROM inbox WHERE event_id IN (
                SELECT event_id FROM inbox WHERE applied_at < \(time) ORDER BY applied_at LIMIT \(limit)
            )
            """
        )
        return rows.affected
    }

    // MARK: - Steps of applying

    /// Records that the events are applied, and returns those that weren't before, in order.
    ///
    /// A second delivery at the same moment waits here until the first has committed. Sorted, so that two deliveries of overlapping events
    /// don't deadlock. Before it the claimants' locks are shared: this waits for a call that holds or closes a claimant's account, so that
    /// later statements see its result; deliveries don't wait for each other by that.
    private func enter(
        _ events: [PhoneEvent],
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws -> [PhoneEvent] {
        let ids = events.map(\.id).sorted().map(\.uuid)
        let locks = UserLocks.numbers(of: Self.claimants(of: events))
        let rows = try await transaction.execute(
            """
            WITH locked AS MATERIALIZED (SELECT lock FROM user_locks WHERE lock = ANY(\(locks)) ORDER BY lock FOR SHARE)
            INSERT INTO inbox (event_id, applied_at)
            SELECT event_id, \(now) FROM unnest(\(ids)) AS event (event_id) WHERE (SELECT count(*) FROM locked) >= 0
            ORDER BY event_id
            ON CONFLICT (event_id) DO NOTHING
            RETURNING event_id
            """
        )
        var entered = Set(try rows.map { try $0.decode(0, as: PostgresUUID.self) })
        // Removing each id drops an event that is in the request twice.
        return events.filter { entered.remove($0.id.uuid) != nil }
    }

    /// The users who claim numbers.
    private static func claimants(of events: [PhoneEvent]) -> [UserID] {
        events.compactMap { event in
            if case .claimed(let userID, _, _) = event.change { userID } else { nil }
        }
    }

    /// Drops the claims of users whose accounts were closed: they come late, and their releases follow. The user whom such a claim took the
    /// number from has still lost it.
    ///
    /// - Throws: ``InvitesError/accountHeld`` if it isn't decided whether one of the accounts is closed: this drops no event.
    private func ofOpenAccounts(
        _ events: [PhoneEvent],
        in transaction: PostgresTransaction
    ) async throws -> [PhoneEvent] {
        let claimants = Self.claimants(of: events).map(\.uuid)
        guard !claimants.isEmpty else { return events }
        let rows = try await transaction.query(
            """
            SELECT user_id, false FROM closed_accounts WHERE user_id = ANY(\(claimants))
            UNION ALL SELECT user_id, true FROM held_accounts WHERE user_id = ANY(\(claimants))
            """
        )
        var closed: Set<UserID> = []
        for row in rows {
            let (userID, isHeld) = try row.decode(PostgresUUID.self, Bool.self)
            if isHeld { throw InvitesError.accountHeld }
            closed.insert(UserID(userID))
        }
        guard !closed.isEmpty else { return events }
        return events.compactMap { event in
            guard case .claimed(let userID, let takenFrom, _) = event.change, closed.contains(userID) else {
                return event
            }
            return takenFrom.map { PhoneEvent(id: event.id, phone: event.phone, change: .released(by: $0)) }
        }
    }

    /// Locks numbers until the transaction ends, in the order of their digits, and returns who has them.
    static func lock(
        _ phones: [PhoneNumber],
        in transaction: PostgresTransaction
    ) async throws -> [PhoneNumber: UserID] {
        let digits = Set(phones.map(\.digits)).sorted()
        return try owners(
            await transaction.execute(
                """
                INSERT INTO phones (phone)
                SELECT phone FROM unnest(\(digits)) AS locked (phone) ORDER BY phone COLLATE "C"
                ON CONFLICT (phone) DO UPDATE SET phone = excluded.phone
                RETURNING phone, user_id
                """
            )
        )
    }

    /// Locks awaited numbers after a group, without waiting, since other transactions wait for the group with a number locked.
    ///
    /// - Throws: `ConflictRetry.LostRace` if another transaction has locked one of them.
    static func lockWithoutWaiting(
        _ phones: Set<PhoneNumber>,
        in transaction: PostgresTransaction
    ) async throws -> [PhoneNumber: UserID] {
        guard !phones.isEmpty else { return [:] }
        let rows = try await transaction.query(
            """
            SELECT phone, user_id FROM phones WHERE phone = ANY(\(phones.map(\.digits)))
            ORDER BY phone COLLATE "C" FOR UPDATE SKIP LOCKED
            """
        )
        guard rows.count == phones.count else { throw ConflictRetry.LostRace() }
        return try owners(rows)
    }

    private static func owners(_ rows: Rows) throws -> [PhoneNumber: UserID] {
        var owners: [PhoneNumber: UserID] = [:]
        for row in rows {
            let (digits, userID) = try row.decode(String.self, PostgresUUID?.self)
            if let phone = PhoneNumber(stored: digits), let userID { owners[phone] = UserID(userID) }
        }
        return owners
    }

    private func save(
        _ standings: [PhoneNumber: PhoneLedger.Standing],
        in transaction: PostgresTransaction
    ) async throws {
        guard !standings.isEmpty else { return }
        let phones = standings.map(\.key.digits)
        let userIDs = standings.map { $0.value.owner?.uuid }
        let provers = standings.map { $0.value.isProven ? $0.value.owner?.uuid : nil }
        try await transaction.execute(
            """
            UPDATE phones SET user_id = changed.user_id, proven_by = changed.proven_by
            FROM unnest(\(phones), \(userIDs), \(provers)) AS changed (phone, user_id, proven_by)
            WHERE phones.phone = changed.phone
                AND (phones.user_id, phones.proven_by) IS DISTINCT FROM (changed.user_id, changed.proven_by)
            """
        )
    }

    /// Deletes numbers without a user. Their rows are locked; a transaction that waits for one creates it anew.
    private func forget(_ phones: Set<PhoneNumber>, in transaction: PostgresTransaction) async throws {
        guard !phones.isEmpty else { return }
        try await transaction.execute(
            "DELETE FROM phones WHERE phone = ANY(\(phones.map(\.digits))) AND user_id IS NULL"
        )
    }
}
