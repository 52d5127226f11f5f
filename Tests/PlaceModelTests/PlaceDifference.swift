import InvitesDomain
import Models

/// Counts of what happened.
struct PlaceTally: Sendable {
    var histories = 0
    var operations = 0
    var refusals = 0
    var lost = 0
    var doubled = 0
    var wronglySeated = 0
    var other = 0

    static func += (left: inout PlaceTally, right: PlaceTally) {
        left.histories += right.histories
        left.operations += right.operations
        left.refusals += right.refusals
        left.lost += right.lost
        left.doubled += right.doubled
        left.wronglySeated += right.wronglySeated
        left.other += right.other
    }

    mutating func count(_ differences: [PlaceDifference]) {
        for difference in differences {
            switch difference.kind {
            case .lost: lost += 1
            case .doubled: doubled += 1
            case .wronglySeated: wronglySeated += 1
            case .other: other += 1
            }
        }
        if differences.isEmpty { other += 1 }
    }
}

/// A difference that no order of operations explains.
struct PlaceViolation: Error, CustomStringConvertible {
    let seed: UInt64
    let text: String
    let differences: [PlaceDifference]
    let steps: [String]

    var description: String {
        """
        seed \(seed): \(text)
          \(differences.map(\.description).joined(separator: "\n  "))
          \(steps.joined(separator: "\n  "))
        """
    }
}

/// One difference between the actual and the expected state.
struct PlaceDifference: Sendable, CustomStringConvertible {
    enum Kind: String, Sendable { case lost, doubled, wronglySeated, other }

    let kind: Kind
    let what: String
    var description: String { "\(kind.rawValue): \(what)" }

    private init(_ kind: Kind, _ what: String) { (self.kind, self.what) = (kind, what) }

    /// The differences between the actual and the expected state.
    static func between(_ model: PlaceState, _ real: PlaceState) -> [PlaceDifference] {
        var differences: [PlaceDifference] = []
        for id in Set(model.groups.keys).union(real.groups.keys).sorted() {
            switch (model.groups[id], real.groups[id]) {
            case (let mine?, nil): differences.append(PlaceDifference(.lost, "group \(id): \(mine)"))
            case (nil, let theirs?):
                differences.append(PlaceDifference(.other, "group \(id) is still there: \(theirs)"))
            case (let mine?, let theirs?): differences += between(mine, theirs, id)
            case (nil, nil): break
            }
        }
        var (mine, theirs) = (model.visible, real.visible)
        (mine.groups, theirs.groups) = ([:], [:])
        if mine != theirs { differences.append(PlaceDifference(.other, "is\n    \(theirs)\n  not\n    \(mine)")) }
        return differences
    }

    private static func between(_ mine: PlaceGroup, _ theirs: PlaceGroup, _ id: GroupID) -> [PlaceDifference] {
        var differences: [PlaceDifference] = []
        func find(_ row: PlaceRow, _ group: PlaceGroup) -> PlaceRow? {
            row.userID.map { group.member($0) } ?? group.waiting(row.phone ?? "")
        }
        for row in mine.rows.values {
            guard let real = find(row, theirs) else {
                differences.append(PlaceDifference(.lost, "of group \(id): \(row)"))
                continue
            }
            if real != row { differences.append(PlaceDifference(.other, "in group \(id): \(real)\n    not \(row)")) }
        }
        for row in theirs.rows.values where find(row, mine) == nil {
            let isDoubled = row.phone != nil && theirs.rows.values.contains { $0.phone == row.phone && $0.id != row.id }
            differences.append(
                PlaceDifference(isDoubled ? .doubled : .wronglySeated, "in group \(id): \(row)")
            )
        }
        var (left, right) = (mine, theirs)
        (left.rows, right.rows) = ([:], [:])
        if left != right { differences.append(PlaceDifference(.other, "group \(id) is \(right)\n    not \(left)")) }
        return differences
    }

    /// The invariants that hold whenever no operation is running, regardless of the history.
    static func atRest(_ places: PlaceState, _ numbers: NumberState, _ rules: PlaceRules, _ now: Int64)
        -> [PlaceDifference]
    {
        var differences: [PlaceDifference] = []
        if places.owners != numbers.holders.mapValues(\.userID) {
            differences.append(PlaceDifference(.lost, "numbers are \(places.owners), not \(numbers.holders)"))
        }
        if Set(places.provers.keys) != Set(numbers.holders.filter(\.value.isProven).keys) {
            differences.append(PlaceDifference(.other, "proven are \(places.provers), not \(numbers.holders)"))
        }
        if !places.held.isEmpty { differences.append(PlaceDifference(.other, "held: \(places.held)")) }
        for (id, group) in places.groups { differences += atRest(group, id, places, rules, now) }
        return differences
    }

    private static func atRest(
        _ group: PlaceGroup,
        _ id: GroupID,
        _ places: PlaceState,
        _ rules: PlaceRules,
        _ now: Int64
    ) -> [PlaceDifference] {
        var differences: [PlaceDifference] = []
        func found(_ kind: Kind, _ what: String) {
            differences.append(PlaceDifference(kind, "\(what) in group \(id): \(group)"))
        }
        if group.member(group.ownerID) == nil { found(.lost, "the owner is no member") }
        let users = group.rows.values.compactMap(\.userID)
        if Set(users).count != users.count { found(.doubled, "somebody is there twice") }
        if !places.closed.isDisjoint(with: users) || !places.closed.isDisjoint(with: group.requests.keys) {
            found(.wronglySeated, "the ghost of a closed account is")
        }
        let awaited = group.rows.values.filter { $0.userID == nil }
        if Set(awaited.map(\.phone)).count != awaited.count { found(.doubled, "a number is awaited twice") }
        // All inviters have left, and with them the record that the number's user blocks them: the row waits until the
        // user asks for it.
        let wanted = awaited.filter { $0.isLive(now) && $0.inviters != [PlaceState.nobody] }
        for row in wanted where group.openness == .open {
            guard let owner = places.owners[row.phone ?? ""] else { continue }
            if row.declinedBy != owner, places.isWanted(row, by: owner) { found(.lost, "a user is awaited") }
        }
        for row in group.rows.values {
            guard let userID = row.userID, let phone = row.phone, row.confirmedBy == nil else { continue }
            if row.isInDoubt != (places.owners[phone] != userID) { found(.wronglySeated, "a doubt is wrong") }
        }
        for (key, _) in group.merged where places.owners[key.phone] != key.userID || group.member(key.userID) == nil {
            found(.lost, "a number merged into nobody who has it")
        }
        if group.liveCount(now) > rules.membersMax + awaited.count { found(.other, "too many are") }
        return differences
    }
}

extension PlaceState {
    /// The parts of the state that are visible in the tables.
    var visible: PlaceState {
        var state = PlaceState()
        (state.groups, state.owners, state.provers, state.closed, state.held, state.refused) = (
            groups, owners, provers, closed, held, refused
        )
        (state.blocks, state.keys, state.counts, state.asked, state.told) = (blocks, keys, counts, asked, told)
        return state
    }
}

extension PlaceHistory {
    /// The invariants that hold at the end.
    func checkEnd() throws {
        let differences = PlaceDifference.atRest(places, numbers, services.places.rules, now)
        guard differences.isEmpty else { throw violation("what is there in the end can't be", differences) }
    }
}
