import InvitesDomain
import Models
import ServiceKit

/// Creating, changing and leaving groups.
extension PlaceState {
    mutating func create(_ new: NewPlace, _ rules: PlaceRules, _ now: Int64) throws(InvitesError) -> Group {
        let key = new.key.map { CreationKey(userID: new.ownerID, key: $0) }
        if let key, let earlier = keys[key] {
            guard keyTexts[key] == new.requestText else { throw .idempotencyKeyReused }
            return try domain(earlier, for: new.ownerID)
        }
        let used = counts[CountKey(userID: new.ownerID, kind: rules.groups.kind)]
        if let used, used.endsAt > now, used.count >= rules.groups.countMax {
            throw .tooManyAttempts(retryAfterMilliseconds: max(used.endsAt - now, 1))
        }
        try requireOpen(new.ownerID)
        guard groups.values.count(where: { $0.createdBy == new.ownerID }) < rules.groupsMax else {
            throw .tooManyGroups(groupsMax: rules.groupsMax)
        }
        _ = count(rules.groups, of: new.ownerID, 1, now)
        if let key { (keys[key], keyTexts[key]) = (new.groupID, new.requestText) }
        var row = PlaceRow(id: new.memberID, addedBy: new.ownerID, addedAt: now)
        (row.userID, row.linkedAt) = (new.ownerID, now)
        groups[new.groupID] = PlaceGroup(
            name: new.name,
            ownerID: new.ownerID,
            createdBy: new.ownerID,
            openness: new.openness,
            createdAt: now,
            rows: [row.id: row]
        )
        return try domain(new.groupID, for: new.ownerID)
    }

    mutating func change(
        _ id: GroupID,
        name: String?,
        openness: GroupOpenness?,
        by callerID: UserID,
        _ rules: PlaceRules,
        _ now: Int64
    ) throws(InvitesError) -> Group {
        let (group, role) = try group(id, for: callerID)
        if name != nil, role == .member { throw .roleInsufficient }
        if openness != nil, role != .owner { throw .roleInsufficient }
        if let name { groups[id]?.name = name }
        let isChanged = name.map { $0 != group.name } ?? false || openness.map { $0 != group.openness } ?? false
        if isChanged { _ = count(rules.groupChanges, of: callerID, 1, now) }
        guard let openness, openness != group.openness else { return try domain(id, for: callerID) }
        groups[id]?.openness = openness
        if openness == .open {
            let phones = group.rows.values.filter { $0.userID == nil }.compactMap(\.phone).sorted()
            let links = phones.compactMap { phone in owners[phone].map { (phone, $0) } }
            if links.contains(where: { held[$0.1] != nil }) { throw .accountHeld }
            for (phone, userID) in links where !closed.contains(userID) { _ = link(phone, to: userID, in: [id], now) }
        }
        if group.openness == .confirm { admitAll(to: id, by: callerID, rules, now) }
        return try domain(id, for: callerID)
    }

    /// The group ends confirmation: users who asked to join become members, as far as there is room.
    private mutating func admitAll(to id: GroupID, by callerID: UserID, _ rules: PlaceRules, _ now: Int64) {
        guard let requests = groups[id]?.requests.sorted(by: { $0.value.id < $1.value.id }) else { return }
        for (userID, request) in requests {
            guard let group = groups[id] else { return }
            if group.member(userID) != nil {
                groups[id]?.requests[userID] = nil
                continue
            }
            guard request.isLive(now), !closed.contains(userID), held[userID] == nil, !group.isFull(now, rules) else {
                continue
            }
            var row = PlaceRow(id: request.id, addedBy: callerID, addedAt: now)
            row.seat(userID, now, confirmedBy: callerID)
            groups[id]?.rows[row.id] = row
            groups[id]?.requests[userID] = nil
            // Added by the user who opened the group, who is another user.
            told[Landing(userID: userID, groupID: id), default: 0] += 1
        }
    }

    mutating func delete(_ id: GroupID, by callerID: UserID) throws(InvitesError) {
        let (_, role) = try group(id, for: callerID)
        guard role == .owner else { throw .roleInsufficient }
        groups[id] = nil
    }

    mutating func leave(_ id: GroupID, _ userID: UserID) throws(InvitesError) {
        guard !closed.contains(userID), let group = groups[id], let role = group.role(of: userID) else { return }
        guard role == .owner else { return goOut(userID, of: id) }
        guard !group.rows.values.contains(where: { $0.userID != userID && isOpen($0) }) else {
            // A user who got the group by a handover never asked for it.
            guard group.createdBy != userID else { throw .ownerMustHandOver }
            goOut(userID, of: id)
            return inherit(id)
        }
        groups[id] = nil
    }

    /// Removes a user from a group; nothing of theirs is left in it.
    mutating func goOut(_ userID: UserID, of id: GroupID) {
        guard var group = groups[id] else { return }
        group.merged = group.merged.filter { $0.key.userID != userID }
        group.rows = group.rows.filter { $0.value.userID != userID }
        groups[id] = group
        disown(id, by: userID)
    }

    /// Removes what a former member did in a group.
    mutating func disown(_ id: GroupID, by userID: UserID) {
        guard var group = groups[id] else { return }
        for key in group.rows.keys {
            if let row = group.rows[key] { group.rows[key] = withoutInviter(userID, row) }
            if group.rows[key]?.confirmedBy == userID { group.rows[key]?.confirmedBy = Self.nobody }
        }
        for key in group.merged.keys where group.merged[key]?.addedBy == userID {
            group.merged[key]?.addedBy = Self.nobody
        }
        for key in group.links.keys where group.links[key]?.createdBy == userID {
            group.links[key]?.createdBy = Self.nobody
        }
        groups[id] = group
    }

    mutating func handOver(
        _ id: GroupID,
        to memberID: MemberID,
        by callerID: UserID,
        _ rules: PlaceRules,
        _ now: Int64
    ) throws(InvitesError) -> Group {
        let (group, role) = try group(id, for: callerID)
        let heir = group.rows[memberID]?.userID
        if heir == group.ownerID { return try domain(id, for: callerID) }
        guard role == .owner else { throw .roleInsufficient }
        guard let heir, let row = group.rows[memberID], isOpen(row) else { throw .memberNotFound }
        guard row.isAdmin || row.confirmedBy != nil, !row.isInDoubt else { throw .invitation(.memberNotConfirmed) }
        if let own = group.member(callerID) { groups[id]?.rows[own.id]?.isAdmin = true }
        groups[id]?.ownerID = heir
        _ = count(rules.groupChanges, of: callerID, 1, now)
        return try domain(id, for: callerID)
    }

    mutating func setRole(
        _ new: GroupRole,
        of memberID: MemberID,
        in id: GroupID,
        by callerID: UserID,
        _ rules: PlaceRules,
        _ now: Int64
    ) throws(InvitesError) -> Member {
        let (group, role) = try group(id, for: callerID)
        guard role == .owner else { throw .roleInsufficient }
        guard let userID = group.rows[memberID]?.userID else { throw .memberNotFound }
        guard userID != group.ownerID else { throw .roleInsufficient }
        if group.role(of: userID) != new { _ = count(rules.groupChanges, of: callerID, 1, now) }
        groups[id]?.rows[memberID]?.isAdmin = new == .admin
        return try member(memberID, of: id, seenBy: callerID)
    }

    mutating func remove(_ memberID: MemberID, from id: GroupID, by callerID: UserID) throws(InvitesError) {
        let (group, role) = try group(id, for: callerID)
        guard let row = group.rows[memberID] else {
            guard let asked = group.requests.first(where: { $0.value.id == memberID }) else { return }
            guard role != .member else { throw .roleInsufficient }
            groups[id]?.requests[asked.key] = nil
            return
        }
        guard let userID = row.userID else {
            guard role != .member || row.addedBy == callerID else { throw .roleInsufficient }
            groups[id]?.rows[memberID] = nil
            return
        }
        switch group.role(of: userID) {
        case .owner: throw .roleInsufficient
        case .admin: guard role == .owner else { throw .roleInsufficient }
        default: guard role != .member else { throw .roleInsufficient }
        }
        endLinks(of: userID, to: id)
        goOut(userID, of: id)
    }

    /// Revokes the links of a removed user.
    mutating func endLinks(of userID: UserID, to id: GroupID) {
        for (key, link) in groups[id]?.links ?? [:] where link.createdBy == userID {
            groups[id]?.links[key]?.isRevoked = true
        }
    }

    /// If an inviter leaves, the next one replaces them. Without a next one, a user who blocks the leaving inviter doesn't want
    /// the place.
    private func withoutInviter(_ userID: UserID, _ row: PlaceRow) -> PlaceRow {
        var row = row
        guard row.addedBy == userID else {
            row.alsoAddedBy.removeAll { $0 == userID }
            return row
        }
        let owner = row.userID == nil && row.alsoAddedBy.isEmpty ? row.phone.flatMap { owners[$0] } : nil
        row.addedBy = row.alsoAddedBy.first ?? Self.nobody
        row.alsoAddedBy = Array(row.alsoAddedBy.dropFirst())
        if let owner, blocks(owner, userID), row.declinedBy != owner {
            (row.alsoAddedBy, row.declinedBy) = ([Self.nobody], owner)
        }
        return row
    }

    func member(_ memberID: MemberID, of id: GroupID, seenBy viewerID: UserID) throws(InvitesError) -> Member {
        guard let group = groups[id], let row = group.rows[memberID] else { throw .memberNotFound }
        return domain(row, of: id, group, seenBy: viewerID)
    }
}

/// A group to make.
struct NewPlace: Sendable {
    let groupID: GroupID
    let memberID: MemberID
    let name: String
    let openness: GroupOpenness
    let ownerID: UserID
    let key: IdempotencyKey?

    var requestText: String { "\(name)\n\(openness.rawValue)" }
}
