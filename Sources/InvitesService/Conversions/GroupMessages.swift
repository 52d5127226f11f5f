import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import SwiftProtobuf

extension AppV1.Group {
    /// The message of a group.
    init(_ group: Group) {
        self.init()
        groupID = group.id.description
        name = group.name.value
        ownerUserID = group.ownerID.description
        createdAt = Google_Protobuf_Timestamp(milliseconds: group.createdAtMilliseconds)
        openness = AppV1.GroupOpenness(group.openness)
        role = AppV1.GroupRole(group.callerRole)
    }
}

extension AppV1.Member {
    /// The message of a member.
    init(_ member: Member) {
        self.init()
        memberID = member.id.description
        groupID = member.groupID.description
        switch member.state {
        case .member(let user):
            state = .member
            userID = user.description
        case .pending:
            state = .pending
        case .invited:
            state = .invited
        }
        role = member.role.map { AppV1.GroupRole($0) } ?? .unspecified
        isUnconfirmed = member.isUnconfirmed
        isUnproven = member.isUnproven
        phoneNumber = member.shownPhone?.e164 ?? ""
        displayName = member.displayName?.value ?? ""
        addedAt = Google_Protobuf_Timestamp(milliseconds: member.addedAtMilliseconds)
    }
}

extension AppV1.GroupOpenness {
    /// The message's value.
    init(_ openness: GroupOpenness) {
        self =
            switch openness {
            case .open: .open
            case .confirm: .confirm
            case .consent: .consent
            }
    }
}

extension GroupOpenness {
    /// The openness of a request; nil if it has none.
    ///
    /// - Throws: ``InvitesError/opennessInvalid`` for a value of a later version.
    static func parse(_ openness: AppV1.GroupOpenness) throws(InvitesError) -> GroupOpenness? {
        switch openness {
        case .unspecified: nil
        case .open: .open
        case .confirm: .confirm
        case .consent: .consent
        case .UNRECOGNIZED: throw .opennessInvalid
        }
    }
}

extension AppV1.GroupRole {
    /// The message's value.
    init(_ role: GroupRole) {
        self =
            switch role {
            case .owner: .owner
            case .admin: .admin
            case .member: .member
            }
    }
}

extension AppV1.AddMembersResult {
    /// The outcome for a person.
    init(_ answer: Roster.Answer) {
        self.init()
        switch answer {
        case .known(let member), .recognized(let member), .added(let member): self.member = AppV1.Member(member)
        case .refused(let fault): refusal = AppV1.AddMembersRefusal(fault)
        }
    }
}

extension AppV1.AddMembersRefusal {
    /// Why a person wasn't added, as AddMember would report it.
    init(_ fault: InvitesError) {
        self.init()
        let error = fault.rpcError
        reason = error.reason ?? ""
        message = error.message
        field = error.fieldViolations.first?.field ?? ""
        retryAfterSeconds = error.retryAfter.map { Int64(($0 / .seconds(1)).rounded(.up)) } ?? 0
    }
}
