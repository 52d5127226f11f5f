import InvitesDomain
import Models
import Postgres
import ServiceModels

/// Whom and what a history is about: other histories live in the same database.
struct HistoryScope: Sendable {
    var users: [UserID] = []
    var phones: [String] = []
    var groups: [GroupID] = []
    var absorptions: [EventID] = []
}

extension PlaceState {
    /// What the tables say of a history. What only the model keeps is the model's.
    static func read(
        _ database: PostgresClient,
        _ scope: HistoryScope,
        model: PlaceState,
        _ now: Int64
    ) async throws -> PlaceState {
        var state = model
        (state.groups, state.owners, state.provers, state.closed, state.held, state.refused) = (
            [:], [:], [:], [], [:], []
        )
        (state.blocks, state.keys, state.counts, state.asked, state.told) = ([], [:], [:], [:], [:])
        try await state.readGroups(database, scope)
        try await state.readPeople(database, scope)
        try await state.readCounts(database, scope, now)
        return state
    }

    private mutating func readGroups(_ database: PostgresClient, _ scope: HistoryScope) async throws {
        let ids = scope.groups.map(\.uuid)
        for row in try await database.query(
            "SELECT group_id, name, owner_user_id, openness, created_at, created_by FROM groups WHERE group_id = ANY(\(ids))"
        ) {
            let openness = GroupOpenness(rawValue: try row.decode(3, as: String.self))
            groups[GroupID(try row.decode(0, as: PostgresUUID.self))] = PlaceGroup(
                name: try row.decode(1),
                ownerID: UserID(try row.decode(2, as: PostgresUUID.self)),
                createdBy: UserID(try row.decode(5, as: PostgresUUID.self)),
                openness: openness ?? .consent,
                createdAt: try row.decode(4, as: PostgresTimestamp.self).milliseconds
            )
        }
        for row in try await database.query(
            """
            SELECT group_id, member_id, user_id, phone, display_name, added_by, added_at, linked_at, role = 'admin',
                confirmed_by, unconfirmed_at IS NOT NULL, expires_at, declined_by, also_added_by
            FROM members WHERE group_id = ANY(\(ids))
            """
        ) {
            let id = MemberID(try row.decode(1, as: PostgresUUID.self))
            groups[GroupID(try row.decode(0, as: PostgresUUID.self))]?.rows[id] = PlaceRow(
                id: id,
                userID: try Self.user(row, 2),
                phone: try row.decode(3),
                name: try row.decode(4),
                addedBy: UserID(try row.decode(5, as: PostgresUUID.self)),
                alsoAddedBy: try row.decode(13, as: [PostgresUUID].self).map { UserID($0) },
                addedAt: try row.decode(6, as: PostgresTimestamp.self).milliseconds,
                linkedAt: try Self.time(row, 7),
                isAdmin: try row.decode(8),
                confirmedBy: try Self.user(row, 9),
                isInDoubt: try row.decode(10),
                expiresAt: try Self.time(row, 11),
                declinedBy: try Self.user(row, 12)
            )
        }
        try await readBeside(database, ids)
    }

    private mutating func readBeside(_ database: PostgresClient, _ ids: [PostgresUUID]) async throws {
        for row in try await database.query(
            "SELECT group_id, user_id, member_id, expires_at FROM join_requests WHERE group_id = ANY(\(ids))"
        ) {
            let userID = UserID(try row.decode(1, as: PostgresUUID.self))
            groups[GroupID(try row.decode(0, as: PostgresUUID.self))]?.requests[userID] = PlaceRequest(
                id: MemberID(try row.decode(2, as: PostgresUUID.self)),
                expiresAt: try Self.time(row, 3)
            )
        }
        for row in try await database.query(
            """
            SELECT group_id, user_id, phone, member_id, display_name, added_by, added_at FROM merged_numbers
            WHERE group_id = ANY(\(ids))
            """
        ) {
            let key = MergedKey(userID: UserID(try row.decode(1, as: PostgresUUID.self)), phone: try row.decode(2))
            groups[GroupID(try row.decode(0, as: PostgresUUID.self))]?.merged[key] = PlaceMerged(
                id: MemberID(try row.decode(3, as: PostgresUUID.self)),
                name: try row.decode(4),
                addedBy: UserID(try row.decode(5, as: PostgresUUID.self)),
                addedAt: try row.decode(6, as: PostgresTimestamp.self).milliseconds
            )
        }
        for row in try await database.query(
            """
            SELECT group_id, link_id, created_by, expires_at, uses_max, uses, revoked_at IS NOT NULL,
                ARRAY(SELECT user_id FROM group_link_uses u WHERE u.link_id = l.link_id)
            FROM group_links l WHERE group_id = ANY(\(ids))
            """
        ) {
            let id = GroupLinkID(try row.decode(1, as: PostgresUUID.self))
            groups[GroupID(try row.decode(0, as: PostgresUUID.self))]?.links[id] = PlaceLink(
                createdBy: UserID(try row.decode(2, as: PostgresUUID.self)),
                expiresAt: try row.decode(3, as: PostgresTimestamp.self).milliseconds,
                usesMax: try row.decode(4, as: Int32?.self).map { Int($0) },
                uses: Int(try row.decode(5, as: Int32.self)),
                isRevoked: try row.decode(6),
                users: Set(try row.decode(7, as: [PostgresUUID].self).map { UserID($0) })
            )
        }
    }

    private mutating func readPeople(_ database: PostgresClient, _ scope: HistoryScope) async throws {
        let users = scope.users.map(\.uuid)
        let row = try await database.query(
            """
            SELECT ARRAY(SELECT phone FROM phones WHERE phone = ANY(\(scope.phones)) AND user_id IS NOT NULL ORDER BY phone),
                ARRAY(SELECT user_id FROM phones WHERE phone = ANY(\(scope.phones)) AND user_id IS NOT NULL ORDER BY phone),
                ARRAY(SELECT user_id FROM closed_accounts WHERE user_id = ANY(\(users))),
                ARRAY(SELECT user_id FROM held_accounts WHERE user_id = ANY(\(users)) ORDER BY user_id),
                ARRAY(SELECT absorption_id FROM held_accounts WHERE user_id = ANY(\(users)) ORDER BY user_id),
                ARRAY(SELECT absorption_id FROM refused_absorptions
                    WHERE absorption_id = ANY(\(scope.absorptions.map(\.uuid)))),
                ARRAY(SELECT user_id FROM blocked_inviters WHERE user_id = ANY(\(users)) ORDER BY user_id, inviter_user_id),
                ARRAY(SELECT inviter_user_id FROM blocked_inviters WHERE user_id = ANY(\(users))
                    ORDER BY user_id, inviter_user_id),
                ARRAY(SELECT phone FROM phones WHERE phone = ANY(\(scope.phones)) AND proven_by = user_id)
            """
        )[0]
        let phones = try row.decode(0, as: [String].self)
        let holders = try row.decode(1, as: [PostgresUUID].self)
        for (phone, userID) in zip(phones, holders) { owners[phone] = UserID(userID) }
        for phone in try row.decode(8, as: [String].self) { provers[phone] = owners[phone] }
        closed = Set(try row.decode(2, as: [PostgresUUID].self).map { UserID($0) })
        let (heldUsers, holders2) = (
            try row.decode(3, as: [PostgresUUID].self), try row.decode(4, as: [PostgresUUID].self)
        )
        for (userID, absorption) in zip(heldUsers, holders2) { held[UserID(userID)] = EventID(absorption) }
        refused = Set(try row.decode(5, as: [PostgresUUID].self).map { EventID($0) })
        let blockers = try row.decode(6, as: [PostgresUUID].self)
        for (userID, inviterID) in zip(blockers, try row.decode(7, as: [PostgresUUID].self)) {
            blocks.insert(PlaceBlock(userID: UserID(userID), inviterID: UserID(inviterID)))
        }
    }

    private mutating func readCounts(_ database: PostgresClient, _ scope: HistoryScope, _ now: Int64) async throws {
        let users = scope.users.map(\.uuid)
        for row in try await database.query(
            "SELECT user_id, idempotency_key, group_id FROM group_keys WHERE user_id = ANY(\(users))"
        ) {
            let key = IdempotencyKey(try row.decode(1, as: PostgresUUID.self))
            keys[CreationKey(userID: UserID(try row.decode(0, as: PostgresUUID.self)), key: key)] = GroupID(
                try row.decode(2, as: PostgresUUID.self)
            )
        }
        // What is over counts nothing, and neither do tries of links.
        for row in try await database.query(
            """
            SELECT u.user_id, q.kind, q.count, q.ends_at FROM unnest(\(users)) AS u (user_id)
                JOIN quotas q ON q.subject = uuid_send(u.user_id)
            WHERE q.kind IN ('adds', 'numbers', 'groups', 'group changes', 'links') AND q.ends_at > \(PostgresTimestamp(milliseconds: now))
            """
        ) {
            let key = CountKey(userID: UserID(try row.decode(0, as: PostgresUUID.self)), kind: try row.decode(1))
            counts[key] = Count(
                count: Int(try row.decode(2, as: Int32.self)),
                endsAt: try row.decode(3, as: PostgresTimestamp.self).milliseconds
            )
        }
        for row in try await database.query(
            "SELECT user_id, number_code, asked_at FROM asked_numbers WHERE user_id = ANY(\(users))"
        ) {
            let code = try row.decode(1, as: [UInt8].self)
            let userID = UserID(try row.decode(0, as: PostgresUUID.self))
            for phone in scope.phones where PlaceStores.code(of: phone) == code {
                asked[AskedKey(userID: userID, phone: phone)] =
                    try row.decode(2, as: PostgresTimestamp.self).milliseconds
            }
        }
        for row in try await database.query(
            "SELECT user_id, (data ->> 'group_id')::uuid FROM work WHERE user_id = ANY(\(users)) AND data ->> 'type' = 'group.joined'"
        ) {
            let groupID = GroupID(try row.decode(1, as: PostgresUUID.self))
            told[Landing(userID: UserID(try row.decode(0, as: PostgresUUID.self)), groupID: groupID), default: 0] += 1
        }
    }

    private static func user(_ row: Row, _ column: Int) throws -> UserID? {
        try row.decode(column, as: PostgresUUID?.self).map { UserID($0) }
    }

    private static func time(_ row: Row, _ column: Int) throws -> Int64? {
        try row.decode(column, as: PostgresTimestamp?.self)?.milliseconds
    }
}

extension PlaceState {
    /// The same with the ids that the service made, where a person of the other state is the same and has one.
    func bound(to other: PlaceState) -> PlaceState {
        var state = self
        for (id, group) in groups {
            guard let real = other.groups[id] else { continue }
            for row in group.rows.values where row.id.high == .max {
                let match = row.userID.map { real.member($0) } ?? real.waiting(row.phone ?? "")
                guard let match else { continue }
                state.groups[id]?.rows[row.id] = nil
                state.groups[id]?.rows[match.id] = row.renamed(match.id)
            }
            for (key, merged) in group.merged where merged.id.high == .max {
                if let match = real.merged[key] { state.groups[id]?.merged[key]?.id = match.id }
            }
        }
        return state
    }

    /// What counts no more, away.
    func settled(_ now: Int64) -> PlaceState {
        var state = self
        state.counts = counts.filter { $0.value.endsAt > now }
        return state
    }
}

extension PlaceRow {
    fileprivate func renamed(_ id: MemberID) -> PlaceRow {
        PlaceRow(
            id: id,
            userID: userID,
            phone: phone,
            name: name,
            addedBy: addedBy,
            alsoAddedBy: alsoAddedBy,
            addedAt: addedAt,
            linkedAt: linkedAt,
            isAdmin: isAdmin,
            confirmedBy: confirmedBy,
            isInDoubt: isInDoubt,
            expiresAt: expiresAt,
            declinedBy: declinedBy
        )
    }
}
