import InvitesDomain
import Models
import Postgres
import ServiceKit
import ServiceModels
import ServiceStore

/// The numbers that a user may still add to a group, locked until the transaction ends, and who has the numbers.
///
/// A user who has used up a quota, or waits for as many people as allowed, writes nothing and blocks nobody: numbers that they can't add
/// now are only read. But numbers that the group already awaits are locked all the same, so that the user can be noted as a further
/// inviter.
struct AdditionRoom {
    /// What is read about a number.
    private struct Look: Hashable {
        /// The user who has it.
        let owner: UserID?
        /// Whether that user has proven it.
        let isProven: Bool
        /// Why it can't be added; nil if it is locked.
        let refusal: InvitesError?
    }

    private let new: MemberStore.NewMembers
    private let limits: InvitesLimits
    private let looks: [PhoneNumber: Look]

    /// Locks the numbers in the order of their digits. Nothing is written or locked for an outsider, for a member who can't add, or for a
    /// member whose account is closed. One statement: a user with room costs no further round trip.
    ///
    /// - Parameter new: at least one person.
    /// - Throws: ``InvitesError/notAMember`` or ``InvitationError/memberUnconfirmed``.
    init(
        for new: MemberStore.NewMembers,
        limits: InvitesLimits,
        in transaction: PostgresTransaction
    ) async throws {
        self.new = new
        self.limits = limits
        looks = try await Self.look(new, limits, isLocking: true, in: transaction)
    }

    /// Who has each number; a number that isn't in it belongs to no user.
    var owners: [PhoneNumber: UserID] { looks.compactMapValues(\.owner) }
    /// The numbers that their owners have proven.
    var provenPhones: Set<PhoneNumber> { Set(looks.filter(\.value.isProven).keys) }
    /// Whether no number is locked.
    var isEmpty: Bool { looks.values.allSatisfy { $0.refusal != nil } }

    /// Returns which people can't be added, by their places: those whose numbers aren't locked, except people who are in the group by that
    /// number.
    ///
    /// - Parameter answers: the outcome of adding each person.
    /// - Throws: `ConflictRetry.LostRace` if what was read has changed before the answers were known.
    func refusals(
        of answers: [Roster.Answer],
        in transaction: PostgresTransaction
    ) async throws -> [Int: InvitesError] {
        let unlocked = looks.filter { $0.value.refusal != nil }
        guard !unlocked.isEmpty else { return [:] }
        let now = try await Self.look(new, limits, isLocking: false, in: transaction)
        guard unlocked.allSatisfy({ now[$0.key] == $0.value }) else { throw ConflictRetry.LostRace() }
        var found: [Int: InvitesError] = [:]
        for (index, answer) in answers.enumerated() {
            guard let fault = unlocked[new.people[index].invitee.phone]?.refusal else { continue }
            switch answer {
            // Awaited since the read.
            case .known(let member): if member.userID == nil { throw ConflictRetry.LostRace() }
            case .recognized, .added: found[index] = fault
            // Refused for a reason other than limits.
            case .refused: continue
            }
        }
        return found
    }

    private static func look(
        _ new: MemberStore.NewMembers,
        _ limits: InvitesLimits,
        isLocking: Bool,
        in transaction: PostgresTransaction
    ) async throws -> [PhoneNumber: Look] {
        var quotas = [(limits.userAdds, new.callerID.bytes), (limits.userNumbers, new.callerID.bytes)]
        if let addressCode = new.addressCode { quotas.append((limits.addressAdds, addressCode)) }
        let now = PostgresTimestamp(milliseconds: new.nowMilliseconds)
        let known = PostgresTimestamp(milliseconds: new.nowMilliseconds - limits.userNumbers.windowMilliseconds)
        // Later than any right clock has written.
        let far = quotas.map { PostgresTimestamp(milliseconds: new.nowMilliseconds + 2 * $0.0.windowMilliseconds) }
        let rows = try await transaction.execute(
            """
            WITH spent AS MATERIALIZED (
                SELECT q.kind, q.ends_at
                FROM unnest(\(quotas.map(\.1)), \(quotas.map(\.0.kind)), \(quotas.map(\.0.countMax)), \(far))
                    AS quota (subject, kind, count_max, far)
                JOIN quotas q ON q.subject = quota.subject AND q.kind = quota.kind
                WHERE q.count >= quota.count_max AND q.ends_at > \(now) AND q.ends_at <= quota.far
            ), room AS MATERIALIZED (
                SELECT (SELECT max(ends_at) FROM spent WHERE kind = \(limits.userAdds.kind)) AS adds_end,
                    (SELECT max(ends_at) FROM spent WHERE kind = \(limits.userNumbers.kind)) AS numbers_end,
                    (SELECT count(*) FROM (
                        SELECT FROM members WHERE added_by = \(new.callerID.uuid) AND user_id IS NULL LIMIT \(limits.pendingMax)
                    ) AS waiting) >= \(limits.pendingMax) AS is_full, \(unsafeSQL: MemberRow.isUnproven) AS is_unproven
                FROM members m WHERE m.user_id = \(new.callerID.uuid) AND m.group_id = \(new.groupID.uuid)
                    AND NOT EXISTS (SELECT FROM closed_accounts c WHERE c.user_id = m.user_id)
            ), judged AS MATERIALIZED (
                SELECT phone, is_full, is_unproven, greatest(adds_end, CASE
                    WHEN numbers_end IS NOT NULL AND NOT EXISTS (
                        SELECT FROM asked_numbers WHERE user_id = \(new.callerID.uuid) AND number_code = code
                            AND asked_at > \(known) AND asked_at <= \(now)
                    ) THEN numbers_end END) AS ends_at
                FROM room, unnest(\(new.people.map(\.invitee.phone.digits)), \(new.people.map(\.numberCode))) AS wanted (phone, code)
            ), wanted AS MATERIALIZED (
                SELECT phone, ends_at, is_unproven, \(isLocking) AND NOT is_unproven AND (NOT is_full AND ends_at IS NULL OR EXISTS (
                    SELECT FROM members m WHERE m.phone = judged.phone AND m.group_id = \(new.groupID.uuid) AND m.user_id IS NULL
                )) AS is_locked, NOT is_full AND ends_at IS NULL AS has_room
                FROM judged
            ), locked AS (
                INSERT INTO phones (phone) SELECT phone FROM wanted WHERE is_locked ORDER BY phone COLLATE "C"
                ON CONFLICT (phone) DO UPDATE SET phone = excluded.phone
                RETURNING phone, user_id, proven_by
            )
            SELECT w.phone, w.is_locked OR w.has_room, w.ends_at, COALESCE(l.user_id, p.user_id),
                COALESCE(l.proven_by, p.proven_by) IS NOT NULL, w.is_unproven
            FROM wanted w LEFT JOIN locked l ON l.phone = w.phone
                LEFT JOIN phones p ON p.phone = w.phone AND NOT w.is_locked
            """
        )
        guard !rows.isEmpty else { throw InvitesError.notAMember }
        var looks: [PhoneNumber: Look] = [:]
        for row in rows {
            let (digits, mayBeAdded, endsAt, userID, isProven, isUnproven) = try row.decode(
                String.self,
                Bool.self,
                PostgresTimestamp?.self,
                PostgresUUID?.self,
                Bool.self,
                Bool.self
            )
            if isUnproven { throw InvitesError.invitation(.memberUnconfirmed) }
            guard let phone = PhoneNumber(stored: digits) else { continue }
            looks[phone] = Look(
                owner: userID.map { UserID($0) },
                isProven: isProven,
                refusal: mayBeAdded ? nil : refusal(until: endsAt, of: new, limits)
            )
        }
        return looks
    }

    private static func refusal(
        until endsAt: PostgresTimestamp?,
        of new: MemberStore.NewMembers,
        _ limits: InvitesLimits
    ) -> InvitesError {
        guard let endsAt else { return .tooManyPending(pendingMax: limits.pendingMax) }
        return .tooManyAttempts(retryAfterMilliseconds: max(endsAt.milliseconds - new.nowMilliseconds, 1))
    }
}
