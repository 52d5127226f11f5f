import InvitesDomain
import Models

/// The changes of some events by their recipients, ordered by each recipient's first change. A pure value.
struct GroupChangesDraft {
    private enum Recipient: Hashable {
        case members(GroupID)
        case user(UserID)
    }

    private var changes: [Recipient: GroupChangeSet] = [:]
    private var order: [Recipient] = []

    /// Adds a change for the members of a group.
    mutating func add(_ change: GroupChange, of groupID: GroupID) { add(change, for: .members(groupID)) }

    /// Adds a change for a user.
    mutating func add(_ change: GroupChange, for userID: UserID) { add(change, for: .user(userID)) }

    private mutating func add(_ change: GroupChange, for recipient: Recipient) {
        if changes[recipient] == nil { order.append(recipient) }
        changes[recipient, default: GroupChangeSet()].insert(change)
    }

    /// The users who would get more changes than a maximum.
    func floods(changesMax: Int, members: (GroupID) -> [UserID]) -> Set<UserID> {
        // Usually there are fewer changes in total.
        guard changes.values.reduce(0, { $0 + $1.changes.count }) > changesMax else { return [] }
        var counts: [UserID: Int] = [:]
        for (recipient, set) in changes {
            switch recipient {
            case .user(let userID): counts[userID, default: 0] += set.changes.count
            case .members(let groupID):
                for userID in members(groupID) { counts[userID, default: 0] += set.changes.count }
            }
        }
        return Set(counts.filter { $0.value > changesMax }.keys)
    }

    /// The changes, each set with the users who get it, without the excluded users.
    func parts(
        _ members: [GroupID: [UserID]],
        without excluded: Set<UserID>
    ) -> [(changes: GroupChangeSet, users: [UserID])] {
        order.compactMap { recipient in
            guard let set = changes[recipient] else { return nil }
            switch recipient {
            case .user(let userID): return excluded.contains(userID) ? nil : (set, [userID])
            case .members(let groupID):
                let users = (members[groupID] ?? []).filter { !excluded.contains($0) }
                return users.isEmpty ? nil : (set, users)
            }
        }
    }
}
