import InvitesDomain
import Models

/// What becomes of places when numbers change hands: one event after the other.
extension PlaceState {
    /// How many of a group may be in doubt for one number.
    private static let doubtsMax = 8

    mutating func apply(_ events: [PhoneEvent], _ now: Int64) throws(InvitesFault) -> Int {
        var fresh: [PhoneEvent] = []
        for event in events where applied.insert(event.id).inserted { fresh.append(event) }
        for event in fresh {
            if case .claimed(let userID, _) = event.change, held[userID] != nil { throw .accountHeld }
        }
        var linkedCount = 0
        var returned: Set<String> = []
        for event in fresh {
            let phone = event.phone.digits
            switch event.change {
            case .claimed(let userID, let loser) where closed.contains(userID):
                // Too late for the claimant; whoever it took the number from has given it up.
                if let loser { returned.formUnion(release(phone, by: loser, isByDeletion: false, now)) }
            case .claimed(let userID, let loser):
                returned.formUnion(claim(phone, by: userID, from: loser, now))
                linkedCount += link(phone, to: userID, now)
            case .released(let userID, let isByDeletion):
                returned.formUnion(release(phone, by: userID, isByDeletion: isByDeletion, now))
            }
        }
        // Nobody is there for the moment between two events that are told at once.
        for phone in returned.sorted() {
            if let owner = owners[phone] { linkedCount += link(phone, to: owner, now) }
        }
        return linkedCount
    }

    private mutating func release(
        _ phone: String,
        by userID: UserID,
        isByDeletion: Bool,
        _ now: Int64
    ) -> Set<String> {
        guard owners[phone] == userID else { return [] }
        owners[phone] = nil
        return isByDeletion ? [] : lose([(userID, false)], phone, now)
    }

    private mutating func claim(
        _ phone: String,
        by userID: UserID,
        from loser: UserID?,
        _ now: Int64
    ) -> Set<String> {
        var losers: [(UserID, isProof: Bool)] = []
        if let owner = owners[phone], owner != userID, owner != loser { losers.append((owner, false)) }
        if let loser, loser != userID { losers.append((loser, true)) }
        let returned = lose(losers, phone, now)
        owners[phone] = userID
        // Their own number again: they are in no doubt, and nobody else is awaited by it.
        for id in groups.keys {
            guard let row = groups[id]?.member(userID), row.phone == phone, row.isInDoubt else { continue }
            groups[id]?.rows[row.id]?.isInDoubt = false
            if let waiting = groups[id]?.waiting(phone) { groups[id]?.rows[waiting.id] = nil }
        }
        return returned
    }

    /// Users who have a number no more. Tells by which others they are awaited again, who lost a place.
    private mutating func lose(_ losers: [(UserID, isProof: Bool)], _ phone: String, _ now: Int64) -> Set<String> {
        var returned: Set<String> = []
        for id in groups.keys.sorted() {
            for (userID, isProof) in losers where isProof { take(phone, from: userID, in: id) }
            for (userID, isProof) in losers { doubt(phone, of: userID, isProof, in: id, now) }
            for (userID, _) in losers { awaitAgain(phone, of: userID, in: id) }
        }
        // What merged into a place that is gone waits for them again, who have another number still.
        for (userID, _) in losers {
            for (id, group) in groups where group.member(userID) == nil {
                for (key, merged) in group.merged where key.userID == userID {
                    groups[id]?.merged[key] = nil
                    awaitAgain(key.phone, merged, in: id)
                    returned.insert(key.phone)
                }
            }
        }
        return returned
    }

    /// A proof takes the place of a plain member who is there by the number alone.
    private mutating func take(_ phone: String, from userID: UserID, in id: GroupID) {
        guard let group = groups[id], let row = group.member(userID), row.phone == phone, row.confirmedBy == nil,
            !row.isAdmin, group.ownerID != userID
        else { return }
        if group.waiting(phone) != nil {
            groups[id]?.rows[row.id] = nil
        } else {
            groups[id]?.rows[row.id]?.wait()
        }
    }

    /// Whoever is there by the number stays, in doubt, with the number awaited beside.
    private mutating func doubt(_ phone: String, of userID: UserID, _ isProof: Bool, in id: GroupID, _ now: Int64) {
        guard let group = groups[id], let row = group.member(userID), row.phone == phone,
            row.confirmedBy == nil || isProof
        else { return }
        let waiting = group.waiting(phone)
        let doubts = group.rows.values.count { $0.phone == phone && $0.isInDoubt && $0.id != row.id }
        let isPlain = !row.isAdmin && group.ownerID != userID && row.confirmedBy == nil
        if isPlain, doubts >= Self.doubtsMax, waiting == nil {
            groups[id]?.rows[row.id]?.wait()
            return
        }
        groups[id]?.rows[row.id]?.isInDoubt = row.confirmedBy == nil
        if let waiting {
            groups[id]?.rows[waiting.id]?.expiresAt = nil
        } else {
            let beside = PlaceRow(
                id: freshID(),
                phone: phone,
                name: row.name,
                addedBy: row.addedBy,
                alsoAddedBy: row.alsoAddedBy,
                addedAt: now
            )
            groups[id]?.rows[beside.id] = beside
        }
    }

    /// A number that a member had beside is awaited again.
    private mutating func awaitAgain(_ phone: String, of userID: UserID, in id: GroupID) {
        guard let merged = groups[id]?.merged.removeValue(forKey: MergedKey(userID: userID, phone: phone))
        else { return }
        awaitAgain(phone, merged, in: id)
    }

    private mutating func awaitAgain(_ phone: String, _ merged: PlaceMerged, in id: GroupID) {
        if let waiting = groups[id]?.waiting(phone) {
            groups[id]?.rows[waiting.id]?.expiresAt = nil
        } else {
            groups[id]?.rows[merged.id] = PlaceRow(
                id: merged.id,
                phone: phone,
                name: merged.name,
                addedBy: merged.addedBy,
                addedAt: merged.addedAt
            )
        }
    }

    /// In open groups whoever has a number is a member where it is awaited, unless they declined or block who added it.
    mutating func link(_ phone: String, to userID: UserID, in ids: Set<GroupID>? = nil, _ now: Int64) -> Int {
        var linkedCount = 0
        for (id, group) in groups where group.openness == .open && ids?.contains(id) != false {
            guard let row = group.waiting(phone), row.isLive(now), row.declinedBy != userID,
                isWanted(row, by: userID)
            else { continue }
            if group.member(userID) != nil {
                remember(row, of: userID, in: id)
                groups[id]?.rows[row.id] = nil
            } else {
                groups[id]?.rows[row.id]?.seat(userID, now, confirmedBy: row.confirmedBy)
                tell(userID, in: id, addedBy: row.addedBy)
                linkedCount += 1
            }
        }
        return linkedCount
    }

    /// A number that a member has too, unless it is known already.
    mutating func remember(_ row: PlaceRow, of userID: UserID, in id: GroupID) {
        guard let phone = row.phone else { return }
        let key = MergedKey(userID: userID, phone: phone)
        guard groups[id]?.merged[key] == nil else { return }
        groups[id]?.merged[key] = PlaceMerged(
            id: row.id,
            name: row.name,
            addedBy: row.addedBy,
            addedAt: row.addedAt
        )
    }
}
