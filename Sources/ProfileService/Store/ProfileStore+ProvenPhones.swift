import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels

extension ProfileStore {
    /// How long the outcome of a claim by proof is remembered: much longer than its delivery is retried.
    static let provenClaimMilliseconds: Int64 = 60 * 86_400_000
    /// How long a dispute waits for an operator.
    static let disputeMilliseconds: Int64 = 180 * 86_400_000
    /// How often a claim is retried because the number changed hands meanwhile.
    private static let changesMax = 16

    /// Rolls back a transaction in which other users lose the number than those whose profiles it locked.
    private struct HolderChanged: Error {}

    /// Takes a number for a user who has proven it, in one transaction, once for each event; without limits and waiting time.
    ///
    /// Locks are taken as in a save, profiles before the number: those of the user, of the holder, and of the user who typed it before and
    /// gave it up, in the order of their ids. So a concurrent save comes before or after as a whole.
    ///
    /// - Parameter judgement: what was found out about the holder who has proven it, if there is one.
    /// - Throws: `ProfileError.accountClosed` for a user whose account was closed, `ProfileError.holderUnknown` for a number that keeps
    ///   changing hands.
    func claimProven(
        _ claim: ProvenPhone,
        judgement: ProvenClaim.Judgement?,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> ProvenPhoneStep {
        for _ in 0..<Self.changesMax {
            do {
                return try await database.withTransaction(retries: Self.retriesMax, deadline: deadline) { transaction in
                    try await attempt(claim, judgement, nowMilliseconds, in: transaction)
                }
            } catch is HolderChanged { continue }
        }
        throw ProfileError.holderUnknown
    }

    private func attempt(
        _ claim: ProvenPhone,
        _ judgement: ProvenClaim.Judgement?,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> ProvenPhoneStep {
        let seen = try await provenHolder(of: claim.phone, nowMilliseconds, isLocked: false, in: transaction)
        let typist = try await earlierTypist(of: claim, nowMilliseconds, in: transaction)
        let (profile, counts) = try await lock(claim.userID, with: [seen?.userID, typist], in: transaction)
        if let earlier = try await earlierOutcome(of: claim.eventID, in: transaction) {
            return .settled(profile, earlier, hasEvents: false)
        }
        let isOutdated = ProvenClaim.isOutdated(
            claim.phone,
            outdatedAfterMilliseconds: claim.outdatedAfterMilliseconds,
            current: profile.phone,
            chosenAtMilliseconds: counts?.chosenAtMilliseconds
        )
        if isOutdated {
            try await prove(formerNumberOf: claim, in: transaction)
            try await enter(claim, .outdated, nowMilliseconds, in: transaction)
            return .settled(profile, .outdated, hasEvents: false)
        }
        let holder = try await provenHolder(of: claim.phone, nowMilliseconds, isLocked: true, in: transaction)
        guard holder?.userID == seen?.userID else { throw HolderChanged() }
        let decision = ProvenClaim.decide(
            holder: holder,
            claimant: claim.userID,
            mayOpen: claim.mayOpen,
            judgement: judgement
        )
        var losing: UserID?
        switch decision {
        case .open(let userID): return .opens(userID, profile)
        case .judge(let userID): return .judge(userID)
        case .conflict(let userID):
            try await dispute(claim, with: userID, nowMilliseconds, in: transaction)
            try await enter(claim, .conflict, nowMilliseconds, in: transaction)
            return .settled(profile, .conflict, hasEvents: false)
        case .take, .confirm: break
        case .takeOver(let userID): losing = userID
        }
        try await own(claim, from: holder?.userID, nowMilliseconds, in: transaction)
        // A free number is locked only now.
        let typistNow = try await earlierTypist(of: claim, nowMilliseconds, in: transaction)
        guard typistNow == typist else { throw HolderChanged() }
        var next = profile
        next.phone = claim.phone
        next.isPhoneProven = true
        next.phoneTakenAtMilliseconds = nil
        if next != profile {
            next.updatedAtMilliseconds = max(nowMilliseconds, profile.updatedAtMilliseconds)
            next.revision += 1
        }
        let losers = decision.losers(typedBefore: typist)
        let events = Self.events(of: claim, from: profile, takenFrom: losers)
        if profile.phone != claim.phone { try await coolDown(profile, nowMilliseconds, in: transaction) }
        try await write(next, from: profile, losing: losing, events, nowMilliseconds, in: transaction)
        let outcome = ProvenPhoneOutcome.proven(takenFrom: losers)
        try await enter(claim, outcome, nowMilliseconds, in: transaction)
        return .settled(next, outcome, hasEvents: !events.isEmpty)
    }

    /// The events for invites: none if the user had proven the number already and no user loses it. One claim takes from one user: a second
    /// loser gets a second claim.
    private static func events(
        of claim: ProvenPhone,
        from profile: Profile,
        takenFrom losers: [UserID]
    ) -> [PhoneEvent] {
        func claimed(from loser: UserID?) -> PhoneEvent {
            PhoneEvent(kind: .claimed, phone: claim.phone, isProven: true, takenFrom: loser)
        }
        var events = losers.map(claimed)
        let isKept = profile.phone == claim.phone
        if events.isEmpty, !(isKept && profile.isPhoneProven) { events = [claimed(from: nil)] }
        if !isKept, let old = profile.phone { events.insert(PhoneEvent(kind: .released, phone: old), at: 0) }
        return events
    }

    // MARK: - Steps

    private func provenHolder(
        of phone: PhoneNumber,
        _ nowMilliseconds: Int64,
        isLocked: Bool,
        in transaction: PostgresTransaction
    ) async throws -> ProvenClaim.Holder? {
        let row = try await transaction.query(
            """
            SELECT user_id, proven_at, proof FROM phones WHERE phone = \(phone.digits)
            \(unsafeSQL: isLocked ? "FOR UPDATE" : "")
            """
        ).first
        return try row.map { row in
            let (userID, provenAt, proof) = try row.decode(PostgresUUID.self, PostgresTimestamp?.self, String?.self)
            let mayBeOpened =
                proof == PhoneProof.imported.rawValue
                && provenAt.map {
                    ProvenClaim.opens(
                        importedAtMilliseconds: $0.milliseconds,
                        idleMilliseconds: limits.provenIdleMilliseconds,
                        nowMilliseconds: nowMilliseconds
                    )
                } ?? false
            return .init(userID: UserID(userID), isProven: provenAt != nil, mayBeOpened: mayBeOpened)
        }
    }

    /// Locks the profile of the user, created if there is none, and those of others, which exist as long as they lose something by it.
    private func lock(
        _ userID: UserID,
        with others: [UserID?],
        in transaction: PostgresTransaction
    ) async throws -> (Profile, PhoneCounts?) {
        var profile = Profile(userID: userID)
        var counts: PhoneCounts?
        for id in Set(others.compactMap(\.self) + [userID]).sorted() {
            if id == userID {
                (profile, counts) = try await lock(userID, in: transaction)
            } else {
                let rows = try await transaction.query("SELECT FROM profiles WHERE user_id = \(id.uuid) FOR UPDATE")
                guard !rows.isEmpty else { throw HolderChanged() }
            }
        }
        return (profile, counts)
    }

    private func earlierOutcome(
        of eventID: EventID,
        in transaction: PostgresTransaction
    ) async throws -> ProvenPhoneOutcome? {
        let row = try await transaction.query(
            "SELECT outcome, taken_from, also_taken_from FROM proven_claims WHERE event_id = \(eventID.uuid)"
        ).first
        return try row.map { row in
            let (word, first, second) = try row.decode(String.self, PostgresUUID?.self, PostgresUUID?.self)
            switch word {
            case "conflict": return .conflict
            case "outdated": return .outdated
            default: return .proven(takenFrom: [first, second].compactMap { $0.map { UserID($0) } })
            }
        }
    }

    private func enter(
        _ claim: ProvenPhone,
        _ outcome: ProvenPhoneOutcome,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        let (word, losers): (String, [UserID]) =
            switch outcome {
            case .proven(let takenFrom): ("proven", takenFrom)
            case .conflict: ("conflict", [])
            case .outdated: ("outdated", [])
            }
        try await transaction.execute(
            """
            INSERT INTO proven_claims (event_id, user_id, outcome, taken_from, also_taken_from, applied_at)
            VALUES (\(claim.eventID.uuid), \(claim.userID.uuid), \(word), \(losers.first?.uuid),
                \(losers.dropFirst().first?.uuid),
                \(PostgresTimestamp(milliseconds: nowMilliseconds)))
            """
        )
    }

    /// Gives the number to the user, as proven.
    private func own(
        _ claim: ProvenPhone,
        from holder: UserID?,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let (phone, user) = (claim.phone.digits, claim.userID.uuid)
        let rows: Rows
        if let holder {
            rows = try await transaction.execute(
                """
                UPDATE phones SET user_id = \(user), proven_at = \(now), proof = \(claim.proof.rawValue),
                    claimed_at = CASE WHEN user_id = \(user) THEN claimed_at ELSE \(now) END
                WHERE phone = \(phone) AND user_id = \(holder.uuid)
                """
            )
        } else {
            rows = try await transaction.execute(
                """
                INSERT INTO phones (phone, user_id, claimed_at, proven_at, proof)
                VALUES (\(phone), \(user), \(now), \(now), \(claim.proof.rawValue)) ON CONFLICT (phone) DO NOTHING
                """
            )
        }
        guard rows.affected == 1 else { throw HolderChanged() }
    }

    /// Writes both profiles and the events, and deletes what the claim settles: one round trip.
    private func write(
        _ next: Profile,
        from profile: Profile,
        losing: UserID?,
        _ events: [PhoneEvent],
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let user = next.userID.uuid
        let eventIDs = events.map { _ in identifiers.make(EventID.self).uuid }
        var told = [(ServiceEventType, PostgresUUID)]()
        if next.phone != profile.phone { told.append((.phoneChanged, user)) }
        if !required.missing(in: profile).isEmpty, required.missing(in: next).isEmpty {
            told.append((.profileCompleted, user))
        }
        if let losing { told.append((.phoneChanged, losing.uuid)) }
        let toldIDs = told.map { _ in identifiers.make(EventID.self).uuid }
        let freed = events.first { $0.kind == .released }?.phone.digits
        try await transaction.execute(
            """
            WITH freed AS (
                DELETE FROM phones WHERE phone = \(freed) AND user_id = \(user)
            ), cooled AS (
                DELETE FROM phone_cool_downs WHERE phone = \(next.phone?.digits)
            ), settled AS (
                DELETE FROM phone_disputes WHERE claimant_user_id = \(user) AND phone = \(next.phone?.digits)
            ), events AS (
                INSERT INTO work (queue, event_id, key, user_id, created_at, trace, data)
                SELECT \(PhoneEventWork.queue), event_id, phone, \(user), \(now), \(Traces.current),
                    jsonb_build_object('kind', kind, 'is_proven', is_proven, 'taken_from', taken_from)
                FROM unnest(\(eventIDs), \(events.map(\.kind.rawValue)), \(events.map(\.phone.digits)),
                    \(events.map(\.isProven)), \(events.map { $0.takenFrom?.uuid }))
                    WITH ORDINALITY AS event (event_id, kind, phone, is_proven, taken_from, position)
                ORDER BY position
            ), told AS (
                INSERT INTO work (queue, event_id, user_id, created_at, trace, data)
                SELECT \(ServiceEventWork.queue), event_id, user_id, \(now), \(Traces.current), jsonb_build_object('type', type)
                FROM unnest(\(toldIDs), \(told.map(\.0.rawValue)), \(told.map(\.1))) AS event (event_id, type, user_id)
                    JOIN wanted_events USING (type)
            ), lost AS (
                UPDATE profiles SET phone = NULL, proven_phone = NULL, phone_taken_at = \(now),
                    updated_at = GREATEST(updated_at, \(now)), revision = revision + 1
                WHERE user_id = \(losing?.uuid)
            )
            UPDATE profiles SET phone = \(next.phone?.digits), proven_phone = \(next.phone?.digits), phone_taken_at = NULL,
                revision = \(next.revision),
                updated_at = \(PostgresTimestamp(milliseconds: next.updatedAtMilliseconds))
            WHERE user_id = \(user)
            """
        )
    }

    // MARK: - Forgetting

    /// Deletes the proofs' outcomes, disputes and waiting times of a user whose account is closed.
    func forgetProofs(of userID: UserID, in transaction: PostgresTransaction) async throws {
        let user = userID.uuid
        try await transaction.execute(
            """
            WITH claims AS (
                DELETE FROM proven_claims WHERE user_id = \(user)
            ), taken AS (
                UPDATE proven_claims SET taken_from = NULLIF(taken_from, \(user)), also_taken_from = NULLIF(also_taken_from, \(user))
                WHERE (taken_from = \(user) OR also_taken_from = \(user)) AND user_id <> \(user)
            ), disputes AS (
                DELETE FROM phone_disputes WHERE claimant_user_id = \(user) OR holder_user_id = \(user)
            )
            DELETE FROM phone_cool_downs WHERE user_id = \(user)
            """
        )
    }

    /// Deletes old outcomes of proofs, and old disputes, at most `limit` of each, and returns how many.
    func forgetClaimsByProof(nowMilliseconds: Int64, limit: Int) async throws -> Int {
        let claims = try await database.execute(
            """
            DELETE FROM proven_claims WHERE event_id IN (
                SELECT event_id FROM proven_claims
                WHERE applied_at <= \(PostgresTimestamp(milliseconds: nowMilliseconds - Self.provenClaimMilliseconds))
                ORDER BY applied_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
        let disputes = try await database.execute(
            """
            DELETE FROM phone_disputes WHERE claimant_user_id IN (
                SELECT claimant_user_id FROM phone_disputes
                WHERE created_at <= \(PostgresTimestamp(milliseconds: nowMilliseconds - Self.disputeMilliseconds))
                ORDER BY created_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
        return claims + disputes
    }
}
