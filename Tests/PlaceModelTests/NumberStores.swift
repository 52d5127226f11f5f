import InvitesDomain
import Models
import Postgres
import ProfileDomain
import ServiceKit
import ServiceModels

@testable import ProfileService

/// The profile service's real store, which must do with numbers what the model says.
struct NumberStores: Sendable {
    let database: PostgresClient
    let identifiers: IdentifierSource
    let rules: NumberRules

    private var store: ProfileStore {
        ProfileStore(
            database: database,
            identifiers: identifiers,
            limits: ProfileLimits(
                tries: TryLimit(triesMax: 1_000_000),
                claims: TryLimit(triesMax: 1_000_000),
                coolDownMilliseconds: rules.coolDownMilliseconds
            ),
            required: .standard
        )
    }

    func perform(_ operation: NumberOperation, _ now: Int64) async throws -> NumberAnswer {
        do {
            return try await attempt(operation, now)
        } catch let fault as ProfileError { return .fault(fault) }
    }

    private func attempt(_ operation: NumberOperation, _ now: Int64) async throws -> NumberAnswer {
        switch operation {
        case .save(let userID, let phone):
            let outcome = try await store.update(
                userID,
                applying: ProfileChange(phone: phone.map { .set($0) } ?? .remove),
                by: ProfileCaller(addressCode: nil, deadline: nil),
                nowMilliseconds: now
            )
            switch outcome {
            case .saved(let profile, _): return .saved(phone: profile.phone?.digits, isProven: profile.isPhoneProven)
            case .held(let holder, _): return .held(by: holder)
            }
        case .prove(let userID, let phone, let event, let judgement, let outdatedAfter):
            let claim = ProvenPhone(
                eventID: event,
                userID: userID,
                phone: phone,
                proof: .assertion,
                outdatedAfterMilliseconds: outdatedAfter
            )
            let step = try await store.claimProven(claim, judgement: judgement, nowMilliseconds: now, deadline: nil)
            switch step {
            // Openings are not part of these histories.
            case .opens(let holder, _), .judge(let holder): return .judge(holder)
            case .settled(_, .conflict, _): return .conflict
            case .settled(_, .outdated, _): return .outdated
            case .settled(_, .proven(let losers), _): return .proven(takenFrom: losers)
            }
        case .release(let userID, let expected):
            let phone = try await store.releasePhone(
                of: userID,
                ifItIs: expected,
                nowMilliseconds: now,
                deadline: nil
            )
            return .released(phone?.digits)
        case .close(let userID):
            _ = try await store.close(userID, nowMilliseconds: now, deadline: nil)
            return .done
        case .closeIfEmpty(let userID, let absorption):
            return .verdict(
                try await store.closeIfEmpty(userID, absorption: absorption, nowMilliseconds: now, deadline: nil)
            )
        }
    }

    /// The rows of a history in the tables.
    func read(_ scope: HistoryScope) async throws -> NumberState {
        var state = NumberState()
        let users = scope.users.map(\.uuid)
        for row in try await database.query(
            """
            SELECT user_id, phone, proven_phone IS NOT NULL, phone_taken_at IS NOT NULL, phone_chosen_at FROM profiles
            WHERE user_id = ANY(\(users)) AND (phone IS NOT NULL OR phone_taken_at IS NOT NULL OR phone_chosen_at IS NOT NULL)
            """
        ) {
            state.profiles[UserID(try row.decode(0, as: PostgresUUID.self))] = NumberState.Profile(
                phone: try row.decode(1),
                isProven: try row.decode(2),
                isTaken: try row.decode(3),
                chosenAt: try row.decode(4, as: PostgresTimestamp?.self)?.milliseconds
            )
        }
        for row in try await database.query(
            "SELECT phone, user_id, proven_at IS NOT NULL FROM phones WHERE phone = ANY(\(scope.phones))"
        ) {
            state.holders[try row.decode(0)] = NumberState.Holder(
                userID: UserID(try row.decode(1, as: PostgresUUID.self)),
                isProven: try row.decode(2)
            )
        }
        for row in try await database.query(
            "SELECT phone, user_id, until, was_proven FROM phone_cool_downs WHERE phone = ANY(\(scope.phones))"
        ) {
            state.cooling[try row.decode(0)] = NumberState.Cooling(
                userID: UserID(try row.decode(1, as: PostgresUUID.self)),
                until: try row.decode(2, as: PostgresTimestamp.self).milliseconds,
                wasProven: try row.decode(3)
            )
        }
        for row in try await database.query(
            "SELECT claimant_user_id, holder_user_id, phone FROM phone_disputes WHERE claimant_user_id = ANY(\(users))"
        ) {
            state.disputes[UserID(try row.decode(0, as: PostgresUUID.self))] = NumberState.Dispute(
                holder: UserID(try row.decode(1, as: PostgresUUID.self)),
                phone: try row.decode(2)
            )
        }
        try await readEnds(of: scope, &state)
        return state
    }

    private func readEnds(of scope: HistoryScope, _ state: inout NumberState) async throws {
        let users = scope.users.map(\.uuid)
        let row = try await database.query(
            """
            SELECT ARRAY(SELECT user_id FROM closed_accounts WHERE user_id = ANY(\(users))),
                ARRAY(SELECT absorption_id FROM refused_absorptions
                    WHERE absorption_id = ANY(\(scope.absorptions.map(\.uuid))))
            """
        )[0]
        state.closed = Set(try row.decode(0, as: [PostgresUUID].self).map { UserID($0) })
        state.refused = Set(try row.decode(1, as: [PostgresUUID].self).map { EventID($0) })
        for row in try await database.query(
            """
            SELECT event_id, data ->> 'kind' = 'claimed', key, user_id, COALESCE((data ->> 'by_deletion')::boolean, false),
                COALESCE((data ->> 'is_proven')::boolean, false), (data ->> 'taken_from')::uuid FROM work
            WHERE queue = 'phone_events' AND key = ANY(\(scope.phones)) ORDER BY id
            """
        ) {
            state.outbox.append(
                NumberEvent(
                    id: EventID(try row.decode(0, as: PostgresUUID.self)),
                    isClaim: try row.decode(1),
                    phone: try row.decode(2),
                    userID: UserID(try row.decode(3, as: PostgresUUID.self)),
                    isByDeletion: try row.decode(4),
                    isProven: try row.decode(5),
                    takenFrom: try row.decode(6, as: PostgresUUID?.self).map { UserID($0) }
                )
            )
        }
    }

    /// Deletes delivered events.
    func forget(_ events: [EventID]) async throws {
        try await database.execute("DELETE FROM work WHERE event_id = ANY(\(events.map(\.uuid)))")
    }
}

extension NumberEvent {
    /// The event as invites gets it.
    var told: InvitesDomain.PhoneEvent? {
        guard let id, let phone = PhoneNumber(stored: phone) else { return nil }
        return InvitesDomain.PhoneEvent(
            id: id,
            phone: phone,
            change: isClaim
                ? .claimed(by: userID, takenFrom: takenFrom, isProven: isProven)
                : .released(by: userID, byDeletion: isByDeletion)
        )
    }
}
