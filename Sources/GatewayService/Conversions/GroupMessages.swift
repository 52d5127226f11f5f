import API
import SwiftProtobuf

// Groups and members, from what invites answers to what apps are told, and back.

extension AppV1.Group {
    /// The group.
    init(_ group: InvitesV1.Group) {
        self.init()
        groupID = group.groupID
        name = group.name
        ownerUserID = group.ownerUserID
        if group.createdAtMs != 0 { createdAt = Google_Protobuf_Timestamp(milliseconds: group.createdAtMs) }
        openness = AppV1.GroupOpenness(group.openness)
        role = AppV1.GroupRole(group.role)
    }
}

extension AppV1.Member {
    /// The member as lists tell it: under the name that the person gave, if there is one, else under the inviter's.
    ///
    /// - Parameter profile: what profile knows of the person; nil for nothing.
    init(_ member: InvitesV1.Member, _ profile: ProfileV1.PublicProfile?, _ avatars: AvatarAddress) {
        self.init(member)
        guard let profile else { return }
        if !profile.displayName.isEmpty { displayName = profile.displayName }
        username = profile.username
        avatarURL = avatars.url(of: profile.avatar)
    }

    /// The member.
    init(_ member: InvitesV1.Member) {
        self.init()
        memberID = member.memberID
        groupID = member.groupID
        state =
            switch member.state {
            case .unspecified, .UNRECOGNIZED: .unspecified
            case .member: .member
            case .pending: .pending
            case .invited: .invited
            }
        userID = member.userID
        phoneNumber = member.phoneNumber
        displayName = member.displayName
        if member.addedAtMs != 0 { addedAt = Google_Protobuf_Timestamp(milliseconds: member.addedAtMs) }
        role = AppV1.GroupRole(member.role)
        isUnconfirmed = member.isUnconfirmed
        isUnproven = member.isUnproven
    }
}

extension AppV1.AddMembersResult {
    /// What came of a person.
    init(_ result: InvitesV1.AddMembersResult) {
        self.init()
        switch result.outcome {
        case .member(let member): self.member = AppV1.Member(member)
        case .refusal(let refusal):
            self.refusal.reason = refusal.reason
            self.refusal.message = refusal.message
            self.refusal.field = refusal.field
            self.refusal.retryAfterMs = refusal.retryAfterMs
        case nil: break
        }
    }
}

// The words of both have the same numbers; one that isn't known is of a later version of either side, and handed on for the other
// to judge.

extension AppV1.GroupOpenness {
    /// The app's word of the service's.
    init(_ openness: InvitesV1.GroupOpenness) { self = Self(rawValue: openness.rawValue) ?? .unspecified }
}

extension InvitesV1.GroupOpenness {
    /// The service's word of the app's.
    init(_ openness: AppV1.GroupOpenness) { self = Self(rawValue: openness.rawValue) ?? .unspecified }
}

extension AppV1.GroupRole {
    /// The app's word of the service's.
    init(_ role: InvitesV1.GroupRole) { self = Self(rawValue: role.rawValue) ?? .unspecified }
}

extension InvitesV1.GroupRole {
    /// The service's word of the app's.
    init(_ role: AppV1.GroupRole) { self = Self(rawValue: role.rawValue) ?? .unspecified }
}
