import API
import SwiftProtobuf

// From what services answer to what apps are told.

extension AppV1.SessionTokens {
    /// The tokens without those of dialects.
    init(_ tokens: IdentityV1.SessionTokens) {
        self.init()
        accessToken = tokens.accessToken
        refreshToken = tokens.refreshToken
        idToken = tokens.idToken
        expiresInSeconds = Int32(clamping: tokens.expiresInSeconds)
        userID = tokens.userID
        sessionID = tokens.sessionID
    }
}

extension AppV1.Profile {
    /// The profile of the user who asks.
    init(_ profile: ProfileV1.Profile) {
        self.init()
        userID = profile.userID
        displayName = profile.displayName
        username = profile.username
        phoneNumber = profile.phoneNumber
        missingFields = profile.missingFields
        if profile.updatedAtMs != 0 { updatedAt = Google_Protobuf_Timestamp(milliseconds: profile.updatedAtMs) }
    }
}

extension AppV1.Group {
    /// The group.
    init(_ group: InvitesV1.Group) {
        self.init()
        groupID = group.groupID
        name = group.name
        ownerUserID = group.ownerUserID
        if group.createdAtMs != 0 { createdAt = Google_Protobuf_Timestamp(milliseconds: group.createdAtMs) }
    }
}

extension AppV1.Member {
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
            }
        userID = member.userID
        phoneNumber = member.phoneNumber
        displayName = member.displayName
        if member.addedAtMs != 0 { addedAt = Google_Protobuf_Timestamp(milliseconds: member.addedAtMs) }
    }
}

extension Google_Protobuf_Timestamp {
    /// The moment of Unix milliseconds.
    init(milliseconds: Int64) {
        let (seconds, millisecond) = milliseconds.flooringDivision(1000)
        self.init(seconds: seconds, nanos: Int32(millisecond) * 1_000_000)
    }

    /// Whole milliseconds since 1970.
    var milliseconds: Int64 { seconds * 1000 + Int64(nanos) / 1_000_000 }
}
