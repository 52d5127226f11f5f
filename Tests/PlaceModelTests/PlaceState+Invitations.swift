import InvitesDomain
import Models

/// Accepting, declining and confirming; links and blocks.
extension PlaceState {
    /// How a user joins.
    private struct Entry {
        let userID: UserID
        var waitingID: MemberID?
        let newID: MemberID
        let addedBy: UserID
        let confirmedBy: UserID?
    }

    private func phones(of userID: UserID) -> Set<String> { Set(owners.filter { $0.value == userID }.keys) }

    /// The rows in a group that wait for a user, oldest first.
    private func waiting(_ userID: UserID, in group: PlaceGroup) -> [PlaceRow] {
        let phones = phones(of: userID)
        return group.rows.values.filter { $0.userID == nil && phones.contains($0.phone ?? "") }
            .sorted { $0.id < $1.id }
    }

    private mutating func admit(
        _ entry: Entry,
        to id: GroupID,
        _ rules: PlaceRules,
        _ now: Int64
    ) throws(InvitesError) -> MemberID {
        guard let group = groups[id] else { throw .notAMember }
        let own = group.member(entry.userID)
        let waiting = waiting(entry.userID, in: group)
        let kept =
            own == nil
            ? waiting.first { $0.id == entry.waitingID } ?? waiting.first { $0.isLive(now) } ?? waiting.first : nil
        if own == nil, kept?.isLive(now) != true, group.isFull(now, rules) {
            throw .groupFull(membersMax: rules.membersMax)
        }
        groups[id]?.requests[entry.userID] = nil
        for row in waiting where row.id != kept?.id {
            groups[id]?.rows[row.id] = nil
            if row.isLive(now) { remember(row, of: entry.userID, in: id) }
        }
        if let own { return own.id }
        if let kept {
            groups[id]?.rows[kept.id]?.seat(entry.userID, now, confirmedBy: entry.confirmedBy)
            tell(entry.userID, in: id, addedBy: kept.addedBy)
            return kept.id
        }
        var row = PlaceRow(id: entry.newID, addedBy: entry.addedBy, addedAt: now)
        row.seat(entry.userID, now, confirmedBy: entry.confirmedBy)
        groups[id]?.rows[row.id] = row
        tell(entry.userID, in: id, addedBy: entry.addedBy)
        return row.id
    }

    mutating func accept(
        _ memberID: MemberID,
        in id: GroupID,
        by userID: UserID,
        _ rules: PlaceRules,
        _ now: Int64
    ) throws(InvitesError) -> Member {
        guard let group = groups[id], group.member(userID) != nil || !waiting(userID, in: group).isEmpty else {
            throw .invitation(.notFound)
        }
        try requireOpen(userID)
        if let own = group.member(userID) { return try member(own.id, of: id, seenBy: userID) }
        guard let row = waiting(userID, in: group).first(where: { $0.id == memberID }), row.isLive(now),
            isWanted(row, by: userID)
        else { throw .invitation(.notFound) }
        switch group.openness {
        case .open: throw .invitation(.notFound)
        case .confirm: throw .invitation(.confirmationNeeded)
        case .consent: break
        }
        let entry = Entry(userID: userID, waitingID: memberID, newID: memberID, addedBy: userID, confirmedBy: nil)
        let admitted = try admit(entry, to: id, rules, now)
        return try member(admitted, of: id, seenBy: userID)
    }

    mutating func decline(_ memberID: MemberID, in id: GroupID, by userID: UserID) throws(InvitesError) {
        guard let group = groups[id] else { throw .invitation(.notFound) }
        if group.requests[userID]?.id == memberID {
            groups[id]?.requests[userID] = nil
            return
        }
        guard group.openness != .open, waiting(userID, in: group).contains(where: { $0.id == memberID }) else {
            throw .invitation(.notFound)
        }
        groups[id]?.rows[memberID]?.declinedBy = userID
        groups[id]?.rows[memberID]?.alsoAddedBy.removeAll { $0 == Self.nobody }
    }

    mutating func confirm(
        _ memberID: MemberID,
        as userID: UserID,
        in id: GroupID,
        by callerID: UserID,
        _ rules: PlaceRules,
        _ now: Int64
    ) throws(InvitesError) -> Member {
        let (group, role) = try group(id, for: callerID)
        let entry = Entry(
            userID: userID,
            waitingID: memberID,
            newID: memberID,
            addedBy: callerID,
            confirmedBy: callerID
        )
        guard let row = group.rows[memberID] else {
            guard role != .member else { throw .roleInsufficient }
            if let request = group.requests[userID], request.id == memberID, request.isLive(now) {
                try requireOpenPerson(userID)
                let admitted = try admit(entry, to: id, rules, now)
                return try member(admitted, of: id, seenBy: callerID)
            }
            if let own = group.member(userID) { return try member(own.id, of: id, seenBy: callerID) }
            let isAnothers = group.requests.contains { $0.value.id == memberID && $0.key != userID }
            throw isAnothers ? .invitation(.personChanged) : .memberNotFound
        }
        guard role != .member || row.inviters.contains(callerID) else { throw .roleInsufficient }
        try requireProven(callerID, in: group)
        if let seated = row.userID { return try keep(row, seated, userID, id, callerID, role) }
        guard group.openness == .confirm else { throw .invitation(.nothingToConfirm) }
        guard waiting(userID, in: group).contains(where: { $0.id == memberID }), row.isLive(now),
            row.declinedBy != userID, isWanted(row, by: userID), !blocks(userID, callerID)
        else { throw .invitation(.personChanged) }
        try requireOpenPerson(userID)
        let admitted = try admit(entry, to: id, rules, now)
        return try member(admitted, of: id, seenBy: callerID)
    }

    private func requireOpenPerson(_ userID: UserID) throws(InvitesError) {
        if closed.contains(userID) { throw .invitation(.personChanged) }
        if held[userID] != nil { throw .accountHeld }
    }

    /// Confirms that a member is the person meant, even if the number has another user now.
    private mutating func keep(
        _ row: PlaceRow,
        _ seated: UserID,
        _ userID: UserID,
        _ id: GroupID,
        _ callerID: UserID,
        _ role: GroupRole
    ) throws(InvitesError) -> Member {
        guard seated == userID else { throw .invitation(.personChanged) }
        guard userID != callerID || role == .owner else { throw .roleInsufficient }
        guard let phone = row.phone else { return try member(row.id, of: id, seenBy: callerID) }
        if row.confirmedBy == nil || row.isInDoubt {
            groups[id]?.rows[row.id]?.confirmedBy = callerID
            groups[id]?.rows[row.id]?.isInDoubt = false
        }
        if row.isInDoubt, let waiting = groups[id]?.waiting(phone) { groups[id]?.rows[waiting.id] = nil }
        return try member(row.id, of: id, seenBy: callerID)
    }

    // MARK: - Links

    mutating func makeLink(
        _ linkID: GroupLinkID,
        of id: GroupID,
        by callerID: UserID,
        _ new: NewGroupLink,
        _ rules: PlaceRules,
        _ now: Int64
    ) throws(InvitesError) {
        let (_, role) = try group(id, for: callerID)
        guard role != .member else { throw .roleInsufficient }
        _ = count(rules.links, of: callerID, 1, now)
        groups[id]?.links[linkID] = PlaceLink(
            createdBy: callerID,
            expiresAt: now + Int64(new.lifetimeSeconds) * 1_000,
            usesMax: new.usesMax,
            users: [callerID]
        )
    }

    mutating func revoke(_ linkID: GroupLinkID, of id: GroupID, by callerID: UserID) throws(InvitesError) {
        let (_, role) = try group(id, for: callerID)
        guard role != .member else { throw .roleInsufficient }
        groups[id]?.links[linkID]?.isRevoked = true
    }

    mutating func join(
        _ linkID: GroupLinkID,
        by userID: UserID,
        _ newID: MemberID,
        _ rules: PlaceRules,
        _ now: Int64
    ) throws(InvitesError) -> PlaceAnswer {
        guard let (id, group) = groups.first(where: { $0.value.links[linkID] != nil }), let link = group.links[linkID]
        else { throw .invitation(.linkInvalid) }
        try requireOpen(userID)
        if let own = group.member(userID) { return .joined(own.id, isMember: true) }
        if group.openness == .confirm {
            if let request = group.requests[userID], request.isLive(now) {
                return .joined(request.id, isMember: false)
            }
            let awaited = waiting(userID, in: group).first { $0.isLive(now) && isWanted($0, by: userID) }
            if let awaited {
                // Joining by a link shows that the user wants to be a member.
                if awaited.declinedBy == userID { groups[id]?.rows[awaited.id]?.declinedBy = nil }
                return .joined(awaited.id, isMember: false)
            }
        }
        if link.users.contains(userID) { throw .invitation(.linkUsed) }
        guard link.isGood(now) else { throw .invitation(.linkOver) }
        groups[id]?.links[linkID]?.users.insert(userID)
        groups[id]?.links[linkID]?.uses += 1
        if group.openness == .confirm {
            let asking = group.requests.values.count { $0.isLive(now) }
            guard group.liveCount(now) + asking < rules.membersMax else {
                throw .groupFull(membersMax: rules.membersMax)
            }
            let expiresAt = rules.pendingLifetimeMilliseconds.map { now + $0 }
            groups[id]?.requests[userID] = PlaceRequest(id: newID, expiresAt: expiresAt)
            return .joined(newID, isMember: false)
        }
        let entry = Entry(userID: userID, newID: newID, addedBy: link.createdBy, confirmedBy: link.createdBy)
        return .joined(try admit(entry, to: id, rules, now), isMember: true)
    }

    // MARK: - Blocks and expiry

    mutating func block(_ inviterID: UserID, by userID: UserID) throws(InvitesError) {
        try requireOpen(userID)
        blocks.insert(PlaceBlock(userID: userID, inviterID: inviterID))
    }

    mutating func unblock(_ inviterID: UserID, by userID: UserID, _ now: Int64) throws(InvitesError) {
        try requireOpen(userID)
        guard blocks.remove(PlaceBlock(userID: userID, inviterID: inviterID)) != nil else { return }
        for phone in phones(of: userID).sorted() { _ = link(phone, to: userID, now) }
    }

    /// Removes expired rows.
    mutating func expire(_ now: Int64) {
        for (id, group) in groups {
            groups[id]?.rows = group.rows.filter { $0.value.isLive(now) }
            groups[id]?.requests = group.requests.filter { $0.value.isLive(now) }
        }
    }
}

/// Closing accounts.
extension PlaceState {
    mutating func hold(_ userID: UserID, _ absorption: EventID) throws(InvitesError) -> Bool {
        if closed.contains(userID) { return true }
        if refused.contains(absorption) { return false }
        if let holder = held[userID] {
            guard holder == absorption else { throw .accountHeld }
            return true
        }
        guard !groups.values.contains(where: { $0.member(userID) != nil }) else {
            refused.insert(absorption)
            return false
        }
        held[userID] = absorption
        return true
    }

    mutating func reopen(_ userID: UserID, _ absorption: EventID) {
        refused.insert(absorption)
        if held[userID] == absorption { held[userID] = nil }
    }

    mutating func close(_ userID: UserID) {
        for part in ClosingPart.allCases { _ = close(userID, part) }
    }

    /// Does a part of a closing; returns whether its turn has come.
    mutating func close(_ userID: UserID, _ part: ClosingPart) -> Bool {
        switch part {
        case .begin:
            owners = owners.filter { $0.value != userID }
            provers = provers.filter { $0.value != userID }
            held[userID] = nil
            closed.insert(userID)
        case .leaveGroups:
            guard closed.contains(userID) else { return false }
            for id in groups.keys { takeOut(userID, of: id) }
        case .forgetRest:
            guard closed.contains(userID), !groups.values.contains(where: { $0.member(userID) != nil }) else {
                return false
            }
            forgetRest(of: userID)
        }
        return true
    }

    private mutating func takeOut(_ userID: UserID, of id: GroupID) {
        guard let group = groups[id] else { return }
        if group.member(userID) != nil { goOut(userID, of: id) }
        if group.ownerID == userID { inherit(id) }
        if group.createdBy == userID { groups[id]?.createdBy = Self.nobody }
    }

    private mutating func forgetRest(of userID: UserID) {
        for (id, group) in groups {
            for key in group.rows.keys where groups[id]?.rows[key]?.declinedBy == userID {
                groups[id]?.rows[key]?.declinedBy = nil
                groups[id]?.rows[key]?.alsoAddedBy.removeAll { $0 == Self.nobody }
            }
            groups[id]?.requests[userID] = nil
            for key in group.links.keys { groups[id]?.links[key]?.users.remove(userID) }
        }
        blocks = blocks.filter { $0.userID != userID && $0.inviterID != userID }
        told = told.filter { $0.key.userID != userID }
        asked = asked.filter { $0.key.userID != userID }
        keys = keys.filter { $0.key.userID != userID }
        counts = counts.filter { $0.key.userID != userID }
    }

    /// Whether a row belongs to a member whose account is open.
    func isOpen(_ row: PlaceRow) -> Bool { row.userID.map { !closed.contains($0) } ?? false }

    /// The heir of a group whose owner is gone: an admin, else a plain member, and of these the longest member; else nobody.
    /// Members in doubt come after the others, then members by an unproven number, and last members whose accounts are closed.
    mutating func inherit(_ id: GroupID) {
        func rank(_ row: PlaceRow) -> Int {
            (isOpen(row) ? 0 : 8) + (row.isAdmin ? 0 : isByUnprovenNumber(row) ? 6 : 4) + (row.isInDoubt ? 1 : 0)
        }
        let heir = groups[id]?.rows.values.filter { $0.userID != nil }
            .min { (rank($0), $0.linkedAt ?? 0, $0.id) < (rank($1), $1.linkedAt ?? 0, $1.id) }
        guard let heir = heir?.userID else {
            groups[id] = nil
            return
        }
        groups[id]?.ownerID = heir
    }
}
