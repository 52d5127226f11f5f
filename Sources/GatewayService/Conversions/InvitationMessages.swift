import API
import SwiftProtobuf

// Invitations, links and blocks, from what invites answers to what apps are told. The words of both sides have the same numbers.

extension AppV1.Invitation {
    /// The invitation.
    init(_ invitation: InvitesV1.Invitation) {
        self.init()
        memberID = invitation.memberID
        groupID = invitation.groupID
        groupName = invitation.groupName
        state = AppV1.InvitationState(rawValue: invitation.state.rawValue) ?? .unspecified
        addedByUserID = invitation.addedByUserID
        isRequest = invitation.isRequest
        since = Google_Protobuf_Timestamp(milliseconds: invitation.sinceMs)
        if invitation.expiresAtMs != 0 { expiresAt = Google_Protobuf_Timestamp(milliseconds: invitation.expiresAtMs) }
    }
}

extension AppV1.PendingPerson {
    /// The person.
    init(_ person: InvitesV1.PendingPerson) {
        self.init()
        memberID = person.memberID
        groupID = person.groupID
        state = AppV1.PendingState(rawValue: person.state.rawValue) ?? .unspecified
        userID = person.userID
        phoneNumber = person.phoneNumber
        displayName = person.displayName
        addedByUserID = person.addedByUserID
        since = Google_Protobuf_Timestamp(milliseconds: person.sinceMs)
        if person.expiresAtMs != 0 { expiresAt = Google_Protobuf_Timestamp(milliseconds: person.expiresAtMs) }
        mayConfirm = person.mayConfirm
    }
}

extension AppV1.GroupLink {
    /// The link.
    init(_ link: InvitesV1.GroupLink) {
        self.init()
        linkID = link.linkID
        groupID = link.groupID
        createdByUserID = link.createdByUserID
        createdAt = Google_Protobuf_Timestamp(milliseconds: link.createdAtMs)
        expiresAt = Google_Protobuf_Timestamp(milliseconds: link.expiresAtMs)
        usesMax = link.usesMax
        uses = link.uses
    }
}

extension AppV1.BlockedInviter {
    /// The user.
    init(_ inviter: InvitesV1.BlockedInviter) {
        self.init()
        userID = inviter.userID
        blockedAt = Google_Protobuf_Timestamp(milliseconds: inviter.blockedAtMs)
    }
}
