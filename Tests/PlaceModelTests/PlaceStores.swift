import InvitesDomain
import Models
import Postgres
import ServiceKit
import ServiceModels
import Synchronization
import TestWaits
import Testing

@testable import InvitesService

/// The real stores of the invites service, which do what the model says.
final class PlaceStores: Sendable {
    let database: PostgresClient
    let rules: PlaceRules
    private let identifiers: IdentifierSource
    private let limits: InvitesLimits
    /// What links are shown by.
    private let tokens = Mutex<[GroupLinkID: String]>([:])

    init(_ database: PostgresClient, _ identifiers: IdentifierSource, _ rules: PlaceRules) {
        self.database = database
        self.identifiers = identifiers
        self.rules = rules
        limits = InvitesLimits(
            userAdds: rules.adds,
            userNumbers: rules.numbers,
            pendingMax: rules.pendingMax,
            userGroups: rules.groups,
            userGroupChanges: rules.groupChanges,
            groupsMax: rules.groupsMax,
            membersMax: rules.membersMax,
            userLinks: rules.links,
            pendingLifetimeMilliseconds: rules.pendingLifetimeMilliseconds
        )
    }

    /// Does it, and says what it is answered. What is no refusal is thrown: nothing of it should happen.
    func perform(_ operation: PlaceOperation, _ now: Int64) async throws -> PlaceAnswer {
        do {
            return try await attempt(operation, now)
        } catch let fault as InvitesError { return .fault(fault) }
    }

    private func attempt(_ operation: PlaceOperation, _ now: Int64) async throws -> PlaceAnswer {
        switch operation {
        case .apply(let events):
            let phones = PhoneStore(
                database: database,
                identifiers: identifiers,
                membershipsMax: limits.membershipsMax
            )
            return .count(try await phones.apply(events, nowMilliseconds: now, deadline: nil))
        case .create, .change, .delete, .leave, .handOver: return try await attemptGroups(operation, now)
        case .setRole, .remove, .add: return try await attemptMembers(operation, now)
        case .accept, .decline, .confirm, .expire: return try await attemptInvitations(operation, now)
        case .makeLink, .revoke, .join: return try await attemptLinks(operation, now)
        case .block, .unblock, .hold, .reopen, .close: return try await attemptAccounts(operation, now)
        }
    }

    private func attemptGroups(_ operation: PlaceOperation, _ now: Int64) async throws -> PlaceAnswer {
        let groups = GroupStore(database: database)
        switch operation {
        case .create(let new):
            let creation = GroupStore.Creation(
                group: Group(
                    id: new.groupID,
                    name: GroupName(stored: new.name),
                    ownerID: new.ownerID,
                    openness: new.openness,
                    callerRole: .owner,
                    createdAtMilliseconds: now
                ),
                firstMember: new.memberID,
                ownerDisplayName: nil,
                requestText: new.requestText
            )
            return .group(try await groups.create(creation, key: new.key, limits: limits, deadline: nil))
        case .change(let id, let name, let openness, let userID):
            return .group(
                try await groups.change(
                    id,
                    GroupStore.Change(name: name.map(GroupName.init(stored:)), openness: openness),
                    by: userID,
                    limits: limits,
                    nowMilliseconds: now,
                    deadline: nil
                )
            )
        case .delete(let id, let userID): try await groups.delete(id, by: userID, deadline: nil)
        case .leave(let id, let userID): try await groups.leave(id, userID, deadline: nil)
        case .handOver(let id, let memberID, let userID):
            return .group(
                try await groups.handOver(
                    id,
                    to: memberID,
                    by: userID,
                    limits: limits,
                    nowMilliseconds: now,
                    deadline: nil
                )
            )
        default: preconditionFailure("no operation of groups")
        }
        return .done
    }

    private func attemptMembers(_ operation: PlaceOperation, _ now: Int64) async throws -> PlaceAnswer {
        let members = MemberStore(database: database)
        switch operation {
        case .setRole(let role, let memberID, let id, let userID):
            return .member(
                try await members.setRole(
                    role,
                    of: memberID,
                    in: id,
                    by: userID,
                    limits: limits,
                    nowMilliseconds: now,
                    deadline: nil
                )
            )
        case .remove(let memberID, let id, let userID):
            try await members.remove(memberID, from: id, by: userID, nowMilliseconds: now, deadline: nil)
            return .done
        case .add(let people, let id, let userID):
            let new = MemberStore.NewMembers(
                groupID: id,
                callerID: userID,
                people: people.map { person in
                    MemberStore.NewMembers.Person(
                        invitee: Invitee(phone: person.phone, displayName: ContactName(stored: person.name)),
                        memberID: person.id,
                        numberCode: Self.code(of: person.phone.digits)
                    )
                },
                addressCode: nil,
                nowMilliseconds: now
            )
            return .added(try await members.add(new, limits: limits, deadline: nil))
        default: preconditionFailure("no operation of members")
        }
    }

    private func attemptInvitations(_ operation: PlaceOperation, _ now: Int64) async throws -> PlaceAnswer {
        let invitations = InvitationStore(database: database)
        switch operation {
        case .accept(let memberID, let id, let userID):
            return .member(
                try await invitations.accept(
                    memberID,
                    in: id,
                    by: userID,
                    limits: limits,
                    nowMilliseconds: now,
                    deadline: nil
                )
            )
        case .decline(let memberID, let id, let userID):
            try await invitations.decline(memberID, in: id, by: userID, deadline: nil)
            return .done
        case .confirm(let memberID, let person, let id, let userID):
            let new = PendingStore.Confirmation(
                groupID: id,
                memberID: memberID,
                userID: person,
                callerID: userID,
                nowMilliseconds: now
            )
            let pending = PendingStore(database: database)
            return .member(try await pending.confirm(new, limits: limits, deadline: nil))
        case .expire:
            _ = try await invitations.forgetExpired(nowMilliseconds: now, limit: 10_000)
            return .done
        default: preconditionFailure("no operation of invitations")
        }
    }

    private func attemptLinks(_ operation: PlaceOperation, _ now: Int64) async throws -> PlaceAnswer {
        let links = GroupLinkStore(database: database)
        switch operation {
        case .makeLink(let linkID, let id, let userID, let new):
            let made = try await links.create(
                new,
                id: linkID,
                for: id,
                by: userID,
                limits: limits,
                nowMilliseconds: now,
                deadline: nil
            )
            tokens.withLock { $0[linkID] = made.token.text }
        case .revoke(let linkID, let id, let userID):
            try await links.revoke(linkID, of: id, by: userID, nowMilliseconds: now, deadline: nil)
        case .join(let linkID, let userID, let newID):
            guard let token = tokens.withLock({ $0[linkID] }) else { return .fault(.invitation(.linkInvalid)) }
            let visit = GroupLinkStore.Visit(userID: userID, addressCode: nil, nowMilliseconds: now)
            let target = try await links.target(of: token, visit, limits: limits, deadline: nil)
            let outcome = try await links.join(target, visit, memberID: newID, limits: limits, deadline: nil)
            return .joined(outcome.memberID, isMember: outcome.isMember)
        default: preconditionFailure("no operation of links")
        }
        return .done
    }

    private func attemptAccounts(_ operation: PlaceOperation, _ now: Int64) async throws -> PlaceAnswer {
        let (accounts, blocks) = (AccountStore(database: database), BlockStore(database: database))
        switch operation {
        case .block(let inviterID, let userID):
            try await blocks.block(inviterID, by: userID, nowMilliseconds: now, deadline: nil)
        case .unblock(let inviterID, let userID):
            try await blocks.unblock(inviterID, by: userID, limits: limits, nowMilliseconds: now, deadline: nil)
        case .hold(let userID, let absorption):
            return .verdict(
                try await accounts.hold(
                    userID,
                    absorption: absorption,
                    groups: limits.userGroups,
                    nowMilliseconds: now,
                    deadline: nil
                )
            )
        case .reopen(let userID, let absorption):
            try await accounts.reopen(userID, absorption: absorption, nowMilliseconds: now, deadline: nil)
        case .close(let userID):
            try await accounts.close(userID, clock: WallClock { now }, deadline: nil)
            // Others come between, as they do where much else is done.
            try await Task.sleep(for: .milliseconds(20))
            // A part that takes too long on a busy machine is retried, as the service's own runner does.
            try await eventually("the closing ends") {
                do {
                    return try await accounts.forget(userID, until: .now.advanced(by: .seconds(60)))
                } catch PostgresError.timeout {
                    return false
                }
            }
        default: preconditionFailure("no operation of accounts")
        }
        return .done
    }

    /// What stands for a number in the counts: its digits, as sixteen bytes.
    static func code(of phone: String) -> [UInt8] {
        Array(phone.utf8.prefix(16)) + [UInt8](repeating: 0, count: max(16 - phone.utf8.count, 0))
    }
}
