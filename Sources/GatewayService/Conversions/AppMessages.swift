import API
import SwiftProtobuf

// Conversions from responses of services to responses for apps.

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
        tokenType = TokenType.name(isBound: tokens.isBoundToKey)
    }
}

extension AppV1.Session {
    /// The session as its user sees it.
    init(_ session: IdentityV1.Session) {
        self.init()
        sessionID = session.sessionID
        deviceName = session.deviceName
        provider = session.provider
        createdAt = Google_Protobuf_Timestamp(milliseconds: session.createdAtMs)
        lastUsedAt = Google_Protobuf_Timestamp(milliseconds: session.lastUsedAtMs)
        isCurrent = session.isCurrent
    }
}

extension AppV1.AccountChange {
    /// The change as the account's owner sees it.
    init(_ change: IdentityV1.AccountChange) {
        self.init()
        kind = change.kind
        provider = change.provider
        occurredAt = Google_Protobuf_Timestamp(milliseconds: change.occurredAtMs)
        sessionID = change.sessionID
        deviceName = change.deviceName
    }
}

extension AppV1.LinkedProvider {
    /// The provider as its user sees it. Relay addresses are shown to nobody.
    init(_ identity: IdentityV1.ProviderIdentity) {
        self.init()
        provider = identity.provider
        email = identity.isPrivateEmail ? "" : identity.email
        isPrivateEmail = identity.isPrivateEmail
        linkedAt = Google_Protobuf_Timestamp(milliseconds: identity.createdAtMs)
        lastSignInAt = Google_Protobuf_Timestamp(milliseconds: identity.lastSignInAtMs)
        isDisabled = identity.disabled
    }
}

extension AppV1.Profile {
    /// The profile of the user who asks.
    init(_ profile: ProfileV1.Profile, of user: SignedInUser, _ avatars: AvatarAddress) {
        self.init()
        isGuest = user.isGuest
        userID = profile.userID
        displayName = profile.displayName
        username = profile.username
        phoneNumber = profile.phoneNumber
        missingFields = profile.missingFields
        revision = profile.revision
        avatarURL = avatars.url(of: profile.avatar)
        if profile.updatedAtMs != 0 { updatedAt = Google_Protobuf_Timestamp(milliseconds: profile.updatedAtMs) }
        phoneProven = profile.phoneProven
        if profile.phoneTakenAtMs != 0 {
            phoneTakenAt = Google_Protobuf_Timestamp(milliseconds: profile.phoneTakenAtMs)
        }
    }
}
