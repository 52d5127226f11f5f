import InvitesDomain
import Models

/// What happens to places when numbers change hands: first the first event of each number in a batch, then the second.
extension PlaceState {
    private struct Loss {
        let phone: String
        let userID: UserID
        var isProof = false
    }

    /// How many members of a group may be in doubt for one number.
    private static let doubtsMax = 8

    mutating func apply(_ events: [PhoneEvent], _ now: Int64) throws(InvitesError) -> Int {
        var fresh: [PhoneEvent] = []
        for event in events where applied.insert(event.id).inserted { fresh.append(event) }
        for event in fresh {
            if case .claimed(let userID, _, _) = event.change, held[userID] != nil { throw .accountHeld }
        }
        var steps: [[PhoneEvent]] = []
        var counts: [String: Int] = [:]
        for event in fresh {
            var event = event
            if case .claimed(let userID, let loser, _) = event.change, closed.contains(userID) {
                // It comes too late for the claimant; the former user has given the number up.
                guard let loser else { continue }
                event = PhoneEvent(id: event.id, phone: event.phone, change: .released(by: loser))
            }
            let index = counts[event.phone.digits, default: 0]
            counts[event.phone.digits] = index + 1
            if index == steps.count { steps.append([]) }
            steps[index].append(event)
        }
        // A user who waits again under another number is a member again if they have it after the batch: the steps in between
        // are not visible.
        var end = self
        for step in steps { _ = end.pass(step) }
        let membersBefore = groups.mapValues { Set($0.rows.values.compactMap(\.userID)) }
        var linkedCount = 0
        for step in steps {
            let (losses, links) = pass(step)
            let returned = lose(losses, now).subtracting(links.map(\.phone)).sorted()
            for (phone, userID) in links { settle(phone, of: userID) }
            let back = returned.compactMap { phone in end.owners[phone].map { (phone, $0) } }
            for (phone, userID) in links + back { linkedCount += link(phone, to: userID, now) }
        }
        // A user who lost a place and has no place in the group again loses their links and invitations there.
        for (id, members) in membersBefore {
            for userID in members.sorted() where groups[id]?.member(userID) == nil {
                endLinks(of: userID, to: id)
                disown(id, by: userID)
            }
        }
        return linkedCount
    }

    /// Hands the numbers over, and returns who has lost and who has taken one.
    private mutating func pass(_ events: [PhoneEvent]) -> (losses: [Loss], links: [(phone: String, userID: UserID)]) {
        var losses: [Loss] = []
        var links: [(phone: String, userID: UserID)] = []
        for event in events {
            let phone = event.phone.digits
            let owner = owners[phone]
            switch event.change {
            case .claimed(let userID, let loser, let isProven):
                if let owner, owner != userID, owner != loser { losses.append(Loss(phone: phone, userID: owner)) }
                if let loser, loser != userID { losses.append(Loss(phone: phone, userID: loser, isProof: true)) }
                owners[phone] = userID
                provers[phone] = isProven ? userID : nil
                links.append((phone, userID))
            case .released(let userID, let isByDeletion):
                guard owner == userID else { continue }
                owners[phone] = nil
                provers[phone] = nil
                if !isByDeletion { losses.append(Loss(phone: phone, userID: userID)) }
            }
        }
        return (losses, links)
    }

    /// A user has their number again: the doubt ends, and the extra place that waits for the number is removed.
    private mutating func settle(_ phone: String, of userID: UserID) {
        for id in groups.keys {
            guard let row = groups[id]?.member(userID), row.phone == phone, row.isInDoubt else { continue }
            groups[id]?.rows[row.id]?.isInDoubt = false
            if let waiting = groups[id]?.waiting(phone) { groups[id]?.rows[waiting.id] = nil }
        }
    }

    /// Users lose their numbers. Returns the other numbers under which users who lost a place wait again.
    private mutating func lose(_ losses: [Loss], _ now: Int64) -> Set<String> {
        var returned: Set<String> = []
        for id in groups.keys.sorted() {
            for loss in losses where loss.isProof { take(loss.phone, from: loss.userID, in: id) }
            for loss in losses { doubt(loss.phone, of: loss.userID, loss.isProof, in: id, now) }
            for loss in losses { awaitAgain(loss.phone, of: loss.userID, in: id) }
        }
        // The numbers merged into a lost place wait again, if their user still has them.
        for loss in losses {
            for (id, group) in groups where group.member(loss.userID) == nil {
                for (key, merged) in group.merged where key.userID == loss.userID {
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

    /// A member by the number stays, in doubt, and the number waits in a second place.
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

    /// A member's additional number waits again.
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

    /// In open groups a number's user becomes a member where the number waits, unless they declined or block its inviters.
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

    /// Stores a member's additional number, unless it is known already.
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
