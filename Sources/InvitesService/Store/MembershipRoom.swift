import InvitesDomain
import Models
import Postgres
import ServiceModels

/// Room for further memberships: a user is a member of a bounded number of groups, and a bounded number of groups await one number.
///
/// The limit for a user's own actions (``InvitesLimits/chosenMembershipsMax``) is twice that for what others do to them by a number: so a
/// user whom others add to many groups can still make, join and accept some.
///
/// It takes no further locks. A call that adds or links a number holds its row, and a user who accepts or joins holds the rows of all their
/// numbers, so that these calls come one after the other. Only concurrent calls that have no number in common can exceed the bound, by as
/// many as there are at once.
enum MembershipRoom {
    /// SQL: the number of groups that a user is in; counts no further than the bound.
    static func count(of user: String, _ max: Int) -> String {
        "(SELECT count(*) FROM (SELECT FROM members counted WHERE counted.user_id = \(user) LIMIT \(max)) AS memberships)"
    }

    /// SQL: whether a user is in as many groups as allowed.
    static func isFull(_ user: String, _ max: Int) -> String { "\(count(of: user, max)) >= \(max)" }

    /// Throws if a user has no room for one more group.
    ///
    /// - Parameter max: how many groups they may be in.
    /// - Throws: ``InvitesError/memberGroupsFull(groupsMax:)``.
    static func require(
        for userID: UserID,
        _ max: Int,
        in transaction: PostgresTransaction
    ) async throws {
        let row = try await transaction.query(
            """
            SELECT \(unsafeSQL: isFull("me.user_id", max)) FROM (SELECT \(userID.uuid)::uuid AS user_id) AS me
            """
        )[0]
        if try row.decode(0, as: Bool.self) { throw InvitesError.memberGroupsFull(groupsMax: max) }
    }

    /// Returns which people can't be added, by their places: users without room, and numbers that the maximum of groups await. The refusal
    /// is the same for both. The numbers are locked, so that no other call adds them meanwhile.
    ///
    /// - Parameter answers: the outcome of adding each person.
    static func refusals(
        of answers: [Roster.Answer],
        _ new: MemberStore.NewMembers,
        _ limits: InvitesLimits,
        in transaction: PostgresTransaction
    ) async throws -> [Int: InvitesError] {
        var (places, users, phones): ([Int], [PostgresUUID?], [String]) = ([], [], [])
        for (index, answer) in answers.enumerated() {
            guard case .added(let member) = answer else { continue }
            places.append(index)
            users.append(member.userID?.uuid)
            phones.append(new.people[index].invitee.phone.digits)
        }
        guard !places.isEmpty else { return [:] }
        let now = PostgresTimestamp(milliseconds: new.nowMilliseconds)
        let max = limits.membershipsMax
        let rows = try await transaction.query(
            """
            SELECT place FROM unnest(\(places), \(users), \(phones)) AS person (place, user_id, phone)
            WHERE CASE WHEN user_id IS NOT NULL THEN \(unsafeSQL: isFull("person.user_id", max))
                ELSE (SELECT count(*) FROM (
                    SELECT FROM members m WHERE m.phone = person.phone AND m.user_id IS NULL
                        AND (m.expires_at IS NULL OR m.expires_at > \(now)) LIMIT \(max)
                ) AS memberships) >= \(max) END
            """
        )
        let full = InvitesError.memberGroupsFull(groupsMax: max)
        return Dictionary(uniqueKeysWithValues: try rows.map { (Int(try $0.decode(0, as: Int64.self)), full) })
    }
}

extension PhoneStore {
    /// How long after a user has left a group the rows that wait for room are looked up: some rounds of cleanup.
    private static let roomAge: Duration = .seconds(3_600)

    /// Makes users members by rows that found no room before, as far as they have room since they left other groups.
    ///
    /// A claim links no more groups than there is room for, and the rest keeps waiting.
    ///
    /// - Parameter limit: the most users to look at.
    /// - Returns: how many pending members became members.
    func linkWaiting(nowMilliseconds: Int64, limit: Int) async throws -> Int {
        let age = Double(Self.roomAge.components.seconds)
        let rows = try await database.query(
            """
            SELECT user_id FROM (
                SELECT DISTINCT e.user_id FROM group_events e
                WHERE e.made_at > now() - make_interval(secs => \(age)) AND e.kind = \(GroupChange.Kind.groupLeft.rawValue)
            ) AS leaver
            WHERE EXISTS (
                SELECT FROM phones p JOIN members m ON m.phone = p.phone AND m.user_id IS NULL
                    JOIN groups g ON g.group_id = m.group_id AND g.openness = \(GroupOpenness.open.rawValue)
                WHERE p.user_id = leaver.user_id)
            -- Not always the same ones first: what somebody declined waits as well.
            ORDER BY random() LIMIT \(limit)
            """
        )
        var (linkedCount, failure): (Int, (any Error)?) = (0, nil)
        for row in rows {
            let userID = UserID(try row.decode(0, as: PostgresUUID.self))
            // A user who can't be linked now doesn't block the users behind them.
            do { linkedCount += try await linkWaiting(for: userID, nowMilliseconds: nowMilliseconds) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return linkedCount
    }

    private func linkWaiting(for userID: UserID, nowMilliseconds: Int64) async throws -> Int {
        do {
            return try await ConflictRetry.run {
                try await database.withTransaction(
                    retries: ConflictRetry.retriesMax,
                    orAfter: ConflictRetry.isRace,
                    deadline: nil
                ) { transaction in
                    let phones = try await Admission.lockPhones(of: userID, in: transaction)
                    try await Admission.requireOpenAccount(userID, in: transaction)
                    let links = phones.compactMap(PhoneNumber.init(stored:)).map {
                        PhoneLedger.Link(phone: $0, userID: userID)
                    }
                    guard try await Self.lockGroups(waitingFor: links, in: transaction).areThere else { return 0 }
                    return try await Self.link(
                        links,
                        PostgresTimestamp(milliseconds: nowMilliseconds),
                        membershipsMax: membershipsMax,
                        in: transaction
                    )
                }
            }
        } catch InvitesError.accountClosed { return 0 } catch InvitesError.accountHeld { return 0 }
    }
}
