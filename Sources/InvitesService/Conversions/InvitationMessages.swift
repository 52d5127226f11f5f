import API
import InvitesDomain
import Models

extension InvitesV1.Invitation {
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
        sinceMs = invitation.sinceMilliseconds
        expiresAtMs = invitation.expiresAtMilliseconds ?? 0
    }
}

extension InvitesV1.PendingPerson {
    /// The message of a person, as far as who asks may know.
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
        sinceMs = facts.sinceMilliseconds
        expiresAtMs = facts.expiresAtMilliseconds ?? 0
        mayConfirm = person.mayConfirm
    }
}

extension InvitesV1.GroupLink {
    /// The message of a link, without its token.
    init(_ link: GroupLink) {
        self.init()
        linkID = link.id.description
        groupID = link.groupID.description
        createdByUserID = link.createdBy?.description ?? ""
        createdAtMs = link.createdAtMilliseconds
        expiresAtMs = link.expiresAtMilliseconds
        usesMax = Int32(clamping: link.usesMax ?? 0)
        uses = Int32(clamping: link.uses)
    }
}

extension InvitesV1.BlockedInviter {
    /// The message of a user who is blocked.
    init(_ blocked: BlockStore.Blocked) {
        self.init()
        userID = blocked.userID.description
        blockedAtMs = blocked.sinceMilliseconds
    }
}
