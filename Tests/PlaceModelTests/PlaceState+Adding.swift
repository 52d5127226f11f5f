import InvitesDomain
import Models
import ServiceKit

/// A person to add.
struct NewPerson: Sendable {
    let phone: PhoneNumber
    let name: String
    let id: MemberID
}

/// Adding people by their numbers.
extension PlaceState {
    mutating func add(
        _ people: [NewPerson],
        to id: GroupID,
        by callerID: UserID,
        _ rules: PlaceRules,
        _ now: Int64
    ) throws(InvitesError) -> [Roster.Answer] {
        let (group, _) = try group(id, for: callerID)
        try requireProven(callerID, in: group)
        let first = plan(people, id, group, callerID, rules, now) { _ in nil }
        let isNoted = note(first, id, callerID)
        let awaited = groups.values.reduce(0) { sum, group in
            sum + group.rows.values.count { $0.addedBy == callerID && $0.userID == nil }
        }
        var refusals: [Int: InvitesError] = [:]
        // If the quota was used up before, numbers that the group doesn't have yet are refused, whatever else is in the batch.
        for index in first.indices where first[index].isCostly && group.waiting(people[index].phone.digits) == nil {
            if let wait = wait(for: people[index].phone.digits, by: callerID, rules, now) {
                refusals[index] = .tooManyAttempts(retryAfterMilliseconds: wait)
            } else if awaited >= rules.pendingMax {
                refusals[index] = .tooManyPending(pendingMax: rules.pendingMax)
            }
        }
        let costly = first.indices.filter { first[$0].isCostly && refusals[$0] == nil }
        guard !costly.isEmpty else { return first.indices.map { refusals[$0].map(Roster.Answer.refused) ?? first[$0] } }
        let before = self
        let waits = count(costly.map { people[$0].phone.digits }, by: callerID, rules, now)
        for (index, wait) in zip(costly, waits) {
            if let wait { refusals[index] = .tooManyAttempts(retryAfterMilliseconds: wait) }
        }
        var answers = first
        if !refusals.isEmpty {
            answers = plan(people, id, group, callerID, rules, now) { refusals[$0] ?? first[$0].refusal }
        }
        let standing = costly.filter { refusals[$0] == nil }
        let room = max(rules.pendingMax - awaited, 0)
        for index in standing.dropFirst(room) { refusals[index] = .tooManyPending(pendingMax: rules.pendingMax) }
        let uncounted = costly.filter { refusals[$0] != nil }
        guard uncounted.count < costly.count || isNoted else {
            // Nobody was added: nothing is counted.
            self = before
            for (index, fault) in refusals { answers[index] = .refused(fault) }
            return answers
        }
        for index in standing.prefix(room) { seat(people[index], answers[index], id, callerID, rules, now) }
        for (index, fault) in refusals { answers[index] = .refused(fault) }
        refund(uncounted.map { people[$0].phone.digits }, by: callerID, before, rules)
        return answers
    }

    /// The result of each addition, in order, before anything is written.
    private func plan(
        _ people: [NewPerson],
        _ id: GroupID,
        _ group: PlaceGroup,
        _ callerID: UserID,
        _ rules: PlaceRules,
        _ now: Int64,
        refusal: (Int) -> InvitesError?
    ) -> [Roster.Answer] {
        var there = group.rows.values.filter { $0.isLive(now) }
        return people.enumerated().map { index, person in
            if let fault = refusal(index) { return .refused(fault) }
            let phone = person.phone.digits
            // A closed account counts as having no number, and so does a user who blocks the caller.
            let owner = owners[phone].flatMap { isUnseen($0, with: phone, by: callerID, in: group, now) ? nil : $0 }
            if group.openness == .open, let owner, held[owner] != nil { return .refused(.accountHeld) }
            if let row = found(phone, owner, group.openness, there) {
                let isNamed = row.phone == phone
                let member = domain(row, of: id, group, seenBy: callerID, isNamed: isNamed)
                return isNamed ? .known(member) : .recognized(member)
            }
            guard there.count < rules.membersMax else { return .refused(.groupFull(membersMax: rules.membersMax)) }
            var row = PlaceRow(id: person.id, phone: phone, name: person.name, addedBy: callerID, addedAt: now)
            if group.openness == .open { row.userID = owner }
            there.append(row)
            return .added(domain(row, of: id, group, seenBy: callerID))
        }
    }

    /// Whether a number's owner must stay hidden: the account is closed, the owner blocks the caller, or declined the place
    /// that waits for this number. In groups with consent the owner counts only as a member by the number, which all members
    /// see.
    private func isUnseen(
        _ owner: UserID,
        with phone: String,
        by callerID: UserID,
        in group: PlaceGroup,
        _ now: Int64
    ) -> Bool {
        guard group.openness != .consent else { return false }
        let hasDeclined = group.rows.values.contains {
            $0.userID == nil && $0.phone == phone && $0.declinedBy == owner && $0.isLive(now) && !$0.isLeftBehind
        }
        return closed.contains(owner) || blocks(owner, callerID) || hasDeclined && group.member(owner) == nil
    }

    /// Adds the caller to the inviters of pending people. Returns whether that changed anything.
    private mutating func note(_ answers: [Roster.Answer], _ id: GroupID, _ callerID: UserID) -> Bool {
        var isNoted = false
        for case .known(let member) in answers where member.userID == nil {
            guard var row = groups[id]?.rows[member.id], !row.inviters.contains(callerID), row.alsoAddedBy.count < 8
            else { continue }
            if row.isLeftBehind {
                if let person = row.declinedBy, blocks(person, callerID) { continue }
                (row.addedBy, row.alsoAddedBy, row.declinedBy) = (callerID, [], nil)
            } else {
                row.alsoAddedBy.append(callerID)
            }
            groups[id]?.rows[member.id] = row
            isNoted = true
        }
        return isNoted
    }

    /// The existing row of the person, if any.
    private func found(
        _ phone: String,
        _ owner: UserID?,
        _ openness: GroupOpenness,
        _ there: [PlaceRow]
    ) -> PlaceRow? {
        let waiting = there.first { $0.userID == nil && $0.phone == phone }
        let member = owner.flatMap { owner in there.first { $0.userID == owner } }
        switch (openness, owner) {
        // Whether the number has a user must not show.
        case (.consent, _): return waiting ?? member.flatMap { $0.phone == phone ? $0 : nil }
        case (_, nil): return waiting ?? there.filter { $0.phone == phone }.max { $0.id < $1.id }
        // In an open group no row waits for a user's number, unless its inviter is blocked by that user.
        case (.open, _): return member
        case (.confirm, _): return member ?? waiting
        }
    }

    private mutating func seat(
        _ person: NewPerson,
        _ answer: Roster.Answer,
        _ id: GroupID,
        _ callerID: UserID,
        _ rules: PlaceRules,
        _ now: Int64
    ) {
        let phone = person.phone.digits
        var row = PlaceRow(id: person.id, phone: phone, name: person.name, addedBy: callerID, addedAt: now)
        switch answer {
        case .recognized(let member):
            if let userID = member.userID { remember(row, of: userID, in: id) }
        case .added(let member):
            // An expired row is replaced, and so is one whose inviter is blocked.
            if let old = groups[id]?.waiting(phone) { groups[id]?.rows[old.id] = nil }
            if let userID = member.userID {
                (row.userID, row.linkedAt) = (userID, now)
                tell(userID, in: id, addedBy: callerID)
            } else {
                row.expiresAt = rules.pendingLifetimeMilliseconds.map { now + $0 }
            }
            groups[id]?.rows[row.id] = row
        case .known, .refused: break
        }
    }

    // MARK: - Counts

    /// How long until a number may be added if a quota is used up; nil if it may be added now.
    private func wait(for phone: String, by callerID: UserID, _ rules: PlaceRules, _ now: Int64) -> Int64? {
        let concerned = isNews(phone, to: callerID, rules, now) ? [rules.adds, rules.numbers] : [rules.adds]
        return concerned.compactMap { quota in
            guard let count = counts[CountKey(userID: callerID, kind: quota.kind)], count.endsAt > now,
                count.count >= quota.countMax
            else { return nil }
            return count.endsAt - now
        }.max()
    }

    private func isNews(_ phone: String, to callerID: UserID, _ rules: PlaceRules, _ now: Int64) -> Bool {
        guard let at = asked[AskedKey(userID: callerID, phone: phone)] else { return true }
        return at <= now - rules.numbers.windowMilliseconds || at > now
    }

    /// Counts people, and returns for each how long until they may be added; nil for now.
    private mutating func count(
        _ phones: [String],
        by callerID: UserID,
        _ rules: PlaceRules,
        _ now: Int64
    ) -> [Int64?] {
        var news: Set<String> = []
        for phone in phones {
            guard isNews(phone, to: callerID, rules, now) else { continue }
            asked[AskedKey(userID: callerID, phone: phone)] = now
            news.insert(phone)
        }
        var left: [Int] = []
        for (quota, amount) in [(rules.adds, phones.count), (rules.numbers, news.count)] {
            let count = count(quota, of: callerID, amount, now)
            left.append(min(max(quota.countMax - (count - amount), 0), amount))
        }
        return phones.map { phone in
            let concerned = news.contains(phone) ? [rules.adds, rules.numbers] : [rules.adds]
            let longest = zip(concerned, left).compactMap { quota, left in
                guard left == 0 else { return nil as Int64? }
                let end = counts[CountKey(userID: callerID, kind: quota.kind)]?.endsAt ?? now
                return min(max(end - now, 1), quota.windowMilliseconds)
            }.max()
            if let longest { return longest }
            left[0] -= 1
            if news.contains(phone) { left[1] -= 1 }
            return nil
        }
    }

    /// Takes back the counts of refused people.
    private mutating func refund(
        _ phones: [String],
        by callerID: UserID,
        _ before: PlaceState,
        _ rules: PlaceRules
    ) {
        var news = 0
        for phone in phones {
            let key = AskedKey(userID: callerID, phone: phone)
            guard asked[key] != before.asked[key] else { continue }
            asked[key] = nil
            news += 1
        }
        for (quota, amount) in [(rules.adds, phones.count), (rules.numbers, news)] where amount > 0 {
            let key = CountKey(userID: callerID, kind: quota.kind)
            guard let count = counts[key]?.count else { continue }
            counts[key]?.count = count - amount
            if count <= amount { counts[key] = nil }
        }
    }
}

extension Roster.Answer {
    fileprivate var isCostly: Bool {
        switch self {
        case .recognized, .added: true
        case .known, .refused: false
        }
    }

    fileprivate var refusal: InvitesError? { if case .refused(let fault) = self { fault } else { nil } }
}
