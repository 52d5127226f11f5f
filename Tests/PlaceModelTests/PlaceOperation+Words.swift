import InvitesDomain
import Models

extension PlaceOperation: CustomStringConvertible {
    /// What happens, with the numbers that values of their own don't show: they are nobody's.
    var description: String {
        switch self {
        case .apply(let events): "apply \(events.map(Self.words))"
        case .add(let people, let id, let userID):
            "add \(people.map { "\($0.phone.digits.suffix(3)) \($0.name) \($0.id)" }) to \(id) by \(userID)"
        case .create(let new): "create \(new.groupID) \(new.openness) of \(new.ownerID), \(new.memberID)"
        case .change(let id, let name, let openness, let userID):
            "change \(id) to \(name ?? "-"), \(openness?.rawValue ?? "-") by \(userID)"
        case .delete(let id, let userID): "delete \(id) by \(userID)"
        case .leave(let id, let userID): "leave \(id) by \(userID)"
        case .handOver(let id, let memberID, let userID): "hand over \(id) to \(memberID) by \(userID)"
        case .setRole(let role, let memberID, let id, let userID): "make \(memberID) \(role) in \(id) by \(userID)"
        case .remove(let memberID, let id, let userID): "remove \(memberID) from \(id) by \(userID)"
        case .accept(let memberID, let id, let userID): "accept \(memberID) in \(id) by \(userID)"
        case .decline(let memberID, let id, let userID): "decline \(memberID) in \(id) by \(userID)"
        case .confirm(let memberID, let person, let id, let userID):
            "confirm \(memberID) as \(person) in \(id) by \(userID)"
        case .makeLink(let linkID, let id, let userID, _): "make link \(linkID) of \(id) by \(userID)"
        case .revoke(let linkID, let id, let userID): "revoke link \(linkID) of \(id) by \(userID)"
        case .join(let linkID, let userID, let newID): "join by \(linkID): \(userID) as \(newID)"
        case .block(let inviterID, let userID): "block \(inviterID) by \(userID)"
        case .unblock(let inviterID, let userID): "unblock \(inviterID) by \(userID)"
        case .hold(let userID, let absorption): "hold \(userID) by \(absorption)"
        case .reopen(let userID, let absorption): "reopen \(userID) by \(absorption)"
        case .close(let userID): "close \(userID)"
        case .expire: "expire"
        }
    }

    private static func words(_ event: PhoneEvent) -> String {
        switch event.change {
        case .claimed(let userID, let loser, let isProven):
            "\(event.phone.digits.suffix(3)) \(isProven ? "proven" : "claimed") by \(userID)\(loser.map { " from \($0)" } ?? "")"
        case .released(let userID, let isByDeletion):
            "\(event.phone.digits.suffix(3)) released by \(userID)\(isByDeletion ? ", deleted" : "")"
        }
    }
}
