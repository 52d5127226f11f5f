import InvitesDomain
import Models

/// Something that happens to places: of people's doing, or told by other services.
enum PlaceOperation: Sendable {
    case apply([PhoneEvent])
    case create(NewPlace)
    case change(GroupID, name: String?, openness: GroupOpenness?, by: UserID)
    case delete(GroupID, by: UserID)
    case leave(GroupID, UserID)
    case handOver(GroupID, to: MemberID, by: UserID)
    case setRole(GroupRole, of: MemberID, in: GroupID, by: UserID)
    case remove(MemberID, from: GroupID, by: UserID)
    case add([NewPerson], to: GroupID, by: UserID)
    case accept(MemberID, in: GroupID, by: UserID)
    case decline(MemberID, in: GroupID, by: UserID)
    case confirm(MemberID, as: UserID, in: GroupID, by: UserID)
    case makeLink(GroupLinkID, of: GroupID, by: UserID, NewGroupLink)
    case revoke(GroupLinkID, of: GroupID, by: UserID)
    case join(GroupLinkID, by: UserID, newID: MemberID)
    case block(UserID, by: UserID)
    case unblock(UserID, by: UserID)
    case hold(UserID, EventID)
    case reopen(UserID, EventID)
    case close(UserID)
    case expire
}

/// The parts of a closing, each a transaction of its own, between which others come.
enum ClosingPart: CaseIterable, Sendable {
    /// The account is closed, and its numbers are nobody's.
    case begin
    case leaveGroups
    case forgetRest
}

/// What happens in one moment.
enum PlaceStep: Sendable {
    case whole(PlaceOperation)
    case closing(UserID, ClosingPart)

    /// Closings in their parts, and all others as they are.
    static func parts(_ operation: PlaceOperation) -> [PlaceStep] {
        guard case .close(let userID) = operation else { return [.whole(operation)] }
        return ClosingPart.allCases.map { .closing(userID, $0) }
    }
}

/// What an operation is answered.
enum PlaceAnswer: Equatable, Sendable {
    case done
    case fault(InvitesError)
    case count(Int)
    case verdict(Bool)
    case group(Group)
    case member(Member)
    case added([Roster.Answer])
    case joined(MemberID, isMember: Bool)
}

extension PlaceState {
    mutating func perform(_ step: PlaceStep, _ rules: PlaceRules, _ now: Int64) -> PlaceAnswer {
        switch step {
        case .whole(let operation): perform(operation, rules, now)
        // No real answer is another one: a part whose turn hasn't come explains nothing.
        case .closing(let userID, let part): close(userID, part) ? .done : .verdict(false)
        }
    }

    /// Does it, or leaves all as it is and says why not.
    mutating func perform(_ operation: PlaceOperation, _ rules: PlaceRules, _ now: Int64) -> PlaceAnswer {
        let before = self
        do {
            return try attempt(operation, rules, now)
        } catch {
            self = before
            return .fault(error)
        }
    }

    private mutating func attempt(
        _ operation: PlaceOperation,
        _ rules: PlaceRules,
        _ now: Int64
    ) throws(InvitesError) -> PlaceAnswer {
        switch operation {
        case .apply(let events): return .count(try apply(events, now))
        case .create(let new): return .group(try create(new, rules, now))
        case .change(let id, let name, let openness, let userID):
            return .group(try change(id, name: name, openness: openness, by: userID, rules, now))
        case .delete(let id, let userID): try delete(id, by: userID)
        case .leave(let id, let userID): try leave(id, userID)
        case .handOver(let id, let memberID, let userID):
            return .group(try handOver(id, to: memberID, by: userID, rules, now))
        case .setRole(let role, let memberID, let id, let userID):
            return .member(try setRole(role, of: memberID, in: id, by: userID, rules, now))
        case .remove(let memberID, let id, let userID): try remove(memberID, from: id, by: userID)
        case .add(let people, let id, let userID): return .added(try add(people, to: id, by: userID, rules, now))
        case .accept(let memberID, let id, let userID):
            return .member(try accept(memberID, in: id, by: userID, rules, now))
        case .decline(let memberID, let id, let userID): try decline(memberID, in: id, by: userID)
        case .confirm(let memberID, let person, let id, let userID):
            return .member(try confirm(memberID, as: person, in: id, by: userID, rules, now))
        case .makeLink(let linkID, let id, let userID, let new):
            try makeLink(linkID, of: id, by: userID, new, rules, now)
        case .revoke(let linkID, let id, let userID): try revoke(linkID, of: id, by: userID)
        case .join(let linkID, let userID, let newID): return try join(linkID, by: userID, newID, rules, now)
        case .block(let inviterID, let userID): try block(inviterID, by: userID)
        case .unblock(let inviterID, let userID): try unblock(inviterID, by: userID, now)
        case .hold(let userID, let absorption): return .verdict(try hold(userID, absorption))
        case .reopen(let userID, let absorption): reopen(userID, absorption)
        case .close(let userID): close(userID)
        case .expire: expire(now)
        }
        return .done
    }
}
