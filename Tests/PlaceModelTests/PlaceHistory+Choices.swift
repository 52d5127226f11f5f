import InvitesDomain
import Models
import ProfileDomain

/// The next operations, chosen from the seed and the current state.
extension PlaceHistory {
    mutating func newGroup(_ openness: GroupOpenness) -> PlaceOperation {
        let groupID = services.identifiers.make(GroupID.self)
        scope.groups.append(groupID)
        let isKeyed = random.oneIn(3)
        return .create(
            NewPlace(
                groupID: groupID,
                memberID: services.identifiers.make(),
                name: "Hikers",
                openness: openness,
                ownerID: someUser(),
                key: isKeyed ? IdempotencyKey(high: seed, low: UInt64(random.below(2))) : nil
            )
        )
    }

    mutating func somePlaceOperations() -> [PlaceOperation] {
        // The cleanup skips locked rows: alone it finds all.
        if random.oneIn(15) { return [.expire] }
        var operations: [PlaceOperation] = []
        if !duePlaces.isEmpty, random.oneIn(2) { operations.append(duePlaces.removeFirst()) }
        if random.below(10) < 8, let events = nextEvents() {
            operations.append(.apply(events))
            // The answer was lost, and the events are delivered again.
            if random.oneIn(6) { operations.append(.apply(events)) }
        }
        if random.oneIn(12), let events = told.randomElement(using: &random) { operations.append(.apply(events)) }
        let count = 1 + random.below(4)
        while operations.count < count { operations.append(somePlaceOperation()) }
        return operations
    }

    private mutating func somePlaceOperation() -> PlaceOperation {
        let group = someGroup()
        let caller = someCaller(in: group)
        switch random.below(100) {
        case 0..<24: return .add(somePeople(), to: group, by: caller)
        case 24..<29: return .remove(someMember(of: group), from: group, by: caller)
        case 29..<33: return .leave(group, caller)
        case 33..<37: return .handOver(group, to: someMember(of: group), by: caller)
        case 37..<44:
            return .setRole(random.oneIn(2) ? .admin : .member, of: someMember(of: group), in: group, by: caller)
        case 44..<52:
            return .change(
                group,
                name: random.oneIn(3) ? ["Hikers", "Bikers"][random.below(2)] : nil,
                openness: [GroupOpenness.open, .open, .confirm, .consent][random.below(4)],
                by: random.oneIn(4) ? caller : places.groups[group]?.ownerID ?? caller
            )
        case 52..<66:
            let (memberID, userID) = someAwaited(in: group)
            switch random.below(5) {
            case 0..<2: return .accept(memberID, in: group, by: userID)
            case 2..<4: return .confirm(memberID, as: userID, in: group, by: caller)
            default: return .decline(memberID, in: group, by: userID)
            }
        case 66..<71: return someKeeping(in: group, by: caller)
        case 71..<83: return someOperationOfLinks(group, caller)
        case 83..<90:
            let (inviterID, userID) = (someUser(), someUser())
            return random.below(5) < 3 ? .block(inviterID, by: userID) : .unblock(inviterID, by: userID)
        case 90..<92: return .delete(group, by: caller)
        case 92..<95: return newGroup([.open, .confirm, .consent][random.below(3)])
        case 95..<98:
            let absorption = services.identifiers.make(EventID.self)
            scope.absorptions.append(absorption)
            return .hold(someUser(), absorption)
        default: return someClosing() ?? .add(somePeople(), to: group, by: caller)
        }
    }

    /// A member is confirmed as the person meant, mostly correctly.
    private mutating func someKeeping(in group: GroupID, by caller: UserID) -> PlaceOperation {
        let memberID = someMember(of: group)
        let seated = places.groups[group]?.rows[memberID]?.userID
        return .confirm(memberID, as: random.oneIn(6) ? someUser() : seated ?? someUser(), in: group, by: caller)
    }

    /// A user asks for their account to be deleted: both services are notified, one of them now.
    private mutating func someClosing() -> PlaceOperation? {
        guard places.closed.count < 3 else { return nil }
        // The deletion of an owner has more effects than that of other users.
        let owners = places.groups.values.map(\.ownerID).sorted()
        let userID = random.oneIn(2) ? owners.randomElement(using: &random) ?? someUser() : someUser()
        addUser()
        dueNumbers.append(.close(userID))
        return .close(userID)
    }

    private mutating func someOperationOfLinks(_ group: GroupID, _ caller: UserID) -> PlaceOperation {
        switch random.below(8) {
        case 0..<2:
            let id = services.identifiers.make(GroupLinkID.self)
            linkIDs.append(id)
            // Refused only for invalid fields.
            guard let new = try? NewGroupLink(lifetimeSeconds: random.oneIn(2) ? 60 : 0, usesMax: random.below(3))
            else { return .leave(group, caller) }
            return .makeLink(id, of: group, by: places.groups[group]?.ownerID ?? caller, new)
        case 2:
            guard let id = linkIDs.randomElement(using: &random) else { break }
            let of = places.groups.first { $0.value.links[id] != nil }?.key ?? group
            return .revoke(id, of: of, by: caller)
        default:
            guard let id = linkIDs.randomElement(using: &random) else { break }
            return .join(id, by: someUser(), newID: services.identifiers.make())
        }
        return .add(somePeople(), to: group, by: caller)
    }

    mutating func someNumberOperations() -> [NumberOperation] {
        var operations: [NumberOperation] = []
        if !dueNumbers.isEmpty, random.oneIn(2) { operations.append(dueNumbers.removeFirst()) }
        let count = random.below(4)
        while operations.count < count { operations.append(someNumberOperation()) }
        return operations
    }

    private mutating func someNumberOperation() -> NumberOperation {
        let userID = someUser()
        var phone = phones[random.below(phones.count)]
        switch random.below(20) {
        case 0..<11: return .save(userID, phone: phone)
        case 11..<13: return .save(userID, phone: nil)
        case 13: return .release(userID, expected: random.oneIn(2) ? phone : nil)
        case 14:
            if let again = proofs.randomElement(using: &random) { return again }
            return .save(userID, phone: phone)
        default:
            // Mostly a number that somebody typed, and may have given up.
            let typed = phones.filter {
                numbers.holders[$0.digits].map { !$0.isProven } ?? (numbers.cooling[$0.digits]?.wasProven == false)
            }
            if !random.oneIn(3), let held = typed.randomElement(using: &random) { phone = held }
            var judgement: ProvenClaim.Judgement?
            if random.below(3) > 0, let holder = numbers.holders[phone.digits]?.userID {
                judgement = ProvenClaim.Judgement(userID: holder, isIdle: random.oneIn(2))
            }
            let proof = NumberOperation.prove(
                userID,
                phone: phone,
                services.identifiers.make(EventID.self),
                judgement,
                // Some are delivered late: a choice made in the meantime stays.
                outdatedAfter: random.oneIn(3) ? now - Int64(random.below(7_200_000)) : now + 2_000
            )
            proofs.append(proof)
            return proof
        }
    }

    // MARK: - Choosing users and targets

    mutating func someUser() -> UserID {
        let alive = users.filter { !places.closed.contains($0) }
        return random.oneIn(20) ? users[random.below(users.count)] : alive[random.below(alive.count)]
    }

    private mutating func someGroup() -> GroupID {
        let alive = places.groups.keys.sorted()
        guard !alive.isEmpty, !random.oneIn(40) else { return scope.groups[random.below(scope.groups.count)] }
        return alive[random.below(alive.count)]
    }

    private mutating func someCaller(in group: GroupID) -> UserID {
        guard let there = places.groups[group], !random.oneIn(6) else { return someUser() }
        if random.oneIn(2) { return there.ownerID }
        let members = there.rows.values.compactMap(\.userID).sorted()
        return members.isEmpty ? someUser() : members[random.below(members.count)]
    }

    private mutating func someMember(of group: GroupID) -> MemberID {
        let there = places.groups[group]
        let ids = ((there.map { Array($0.rows.keys) } ?? []) + (there?.requests.values.map(\.id) ?? [])).sorted()
        return ids.isEmpty || random.oneIn(30) ? services.identifiers.make() : ids[random.below(ids.count)]
    }

    /// A pending person, and mostly the user with their number.
    private mutating func someAwaited(in group: GroupID) -> (MemberID, UserID) {
        guard let there = places.groups[group] else { return (services.identifiers.make(), someUser()) }
        var awaited: [(MemberID, UserID?)] = there.rows.values.filter { $0.userID == nil }
            .map { ($0.id, places.owners[$0.phone ?? ""]) }
        awaited += there.requests.map { ($0.value.id, $0.key) }
        awaited += there.rows.values.filter(\.isInDoubt).map { ($0.id, $0.userID) }
        awaited.sort { $0.0 < $1.0 }
        let known = awaited.filter { $0.1 != nil }
        if !known.isEmpty, !random.oneIn(5) { awaited = known }
        guard !awaited.isEmpty else { return (services.identifiers.make(), someUser()) }
        let (memberID, userID) = awaited[random.below(awaited.count)]
        return (memberID, random.oneIn(8) ? someUser() : userID ?? someUser())
    }

    private mutating func somePeople() -> [NewPerson] {
        let count = random.oneIn(3) ? 1 + random.below(phones.count) : 1
        return phones.shuffled(using: &random).prefix(count).map { phone in
            NewPerson(
                phone: phone,
                name: ["Ana", "Ben", "Cleo"][random.below(3)],
                id: services.identifiers.make()
            )
        }
    }
}
