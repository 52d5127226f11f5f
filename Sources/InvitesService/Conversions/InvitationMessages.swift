import API
import InvitesDomain
import Models
import SwiftProtobuf

extension AppV1.Invitation {
    /// The message of an invitation.
    init(_ invitation: Invitation) {
        self.init()
        memberID = invitation.id.description
        groupID = invitation.groupID.description
        groupName = invitation.groupName.value
        state =
            switch invitation.decision {
            case .consent: .consent
            case .confirmation: .confirmation
            }
        addedByUserID = invitation.addedBy?.description ?? ""
        isRequest = invitation.isRequest
        since = Google_Protobuf_Timestamp(milliseconds: invitation.sinceMilliseconds)
        if let end = invitation.expiresAtMilliseconds { expiresAt = Google_Protobuf_Timestamp(milliseconds: end) }
    }
}

extension AppV1.PendingPerson {
    /// The message of a person, as far as the caller may know.
    init(_ person: PendingPerson) {
        self.init()
        let facts = person.facts
        memberID = facts.id.description
        groupID = facts.groupID.description
        state =
            switch facts.kind {
            case .number: .number
            case .request: .request
            case .doubt: .doubt
            }
        userID = person.userID?.description ?? ""
        phoneNumber = person.shownPhone?.e164 ?? ""
        displayName = facts.displayName?.value ?? ""
        addedByUserID = facts.addedBy?.description ?? ""
        since = Google_Protobuf_Timestamp(milliseconds: facts.sinceMilliseconds)
        if let end = facts.expiresAtMilliseconds { expiresAt = Google_Protobuf_Timestamp(milliseconds: end) }
        mayConfirm = person.mayConfirm
    }
}

extension AppV1.GroupLink {
    /// The message of a link, without its token.
    init(_ link: GroupLink) {
        self.init()
        linkID = link.id.description
        groupID = link.groupID.description
        createdByUserID = link.createdBy?.description ?? ""
        createdAt = Google_Protobuf_Timestamp(milliseconds: link.createdAtMilliseconds)
        expiresAt = Google_Protobuf_Timestamp(milliseconds: link.expiresAtMilliseconds)
        usesMax = Int32(clamping: link.usesMax ?? 0)
        uses = Int32(clamping: link.uses)
    }
}

extension AppV1.BlockedInviter {
    /// The message of a blocked user.
    init(_ blocked: BlockStore.Blocked) {
        self.init()
        userID = blocked.userID.description
        blockedAt = Google_Protobuf_Timestamp(milliseconds: blocked.sinceMilliseconds)
    }
}
