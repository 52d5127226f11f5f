extension PageText {
    /// A sentence of the pages. A file of a language has each by its name; words in braces are placeholders.
    enum Key: String, Sendable, Hashable, CaseIterable {
        // Signing in
        case signIn
        /// {client}: the app's name.
        case signInTo
        case buttonApple
        case buttonGoogle
        case buttonFacebook
        /// {provider}: the provider's name.
        case buttonOther
        case buttonPasskey
        /// Above the field in which the browser suggests passkeys.
        case passkeySuggestions
        /// After the browser's own window was closed without a passkey.
        case passkeyNotUsed
        case noProvider
        case noticeCancelled
        case noticeLater
        case noticeRefused
        case noticeFailed
        /// Beside the button of a provider whose sign-in has just failed.
        case providerDown

        // I lost my provider
        case lostLink
        case lostTitle
        case lostOther
        case lostDevice
        case lostProvider
        /// {provider}: the provider's name.
        case lostRecover
        case lostSupport
        case lostNoSupport
        case contactSupport
        case back

        // A new device signed in
        case newDeviceTitle
        /// {device}: the device's name.
        case newDeviceText
        case newDeviceAdvice
        case newDeviceReview
        case newDeviceKnown

        // Back to the app
        case forwarding
        case forwardingText
        case forward
        case backToApp
        case backToAppText
        case openApp

        // Signing out
        case signOut
        case signOutText
        case signOutButton
        case signedOut
        case signedOutText

        // Failures
        case failed
        case tryAgain
        case goBack
        case notSignedIn
        case notSignedInText
        case expired
        case expiredText
        case tooMany
        case appUnknown
        case appUnknownText
        case appOff
        case appOffText
        case appRequestFaulty
        /// Above what is said to the app's developers, in English.
        case forDevelopers

        // Pages of a signed-in user
        case navigation
        case account
        case profile
        case groups
        case save
        case optional
        case more
        case reload
        case goBackToPage
        case cancel
        case formFailed
        case sessionOver
        case accountsJoined
        case checkFields

        // What a form has done
        case noticeSaved
        case noticeRenamed
        case noticeEnded
        case noticeOthersEnded
        case noticeLinked
        case noticeUnlinked
        case noticeKept
        case noticeCreated
        case noticeAdded
        case noticeJoined
        case noticeAsked
        case noticeConfirmed
        case noticeRemoved
        case noticeLeft
        case noticeDeclined
        case noticeLinkRevoked

        // The account
        case editProfile
        case waysToSignIn
        case linkedSince
        case providerDisabled
        case unlink
        /// {provider}: the provider's name.
        case link
        /// {provider}: the provider's name.
        case linkText
        /// {email}: the e-mail address of the account at the provider.
        case linkAccount
        case linkLost
        case devices
        case thisDevice
        case unnamedDevice
        /// {provider}: the provider's name.
        case signedInBy
        case lastUsed
        case rename
        case deviceName
        case endSession
        case signOutOthers
        case signOutEverywhere
        case recentChanges
        /// {provider}: the provider's name.
        case changeLinked
        /// {provider}: the provider's name.
        case changeUnlinked
        case changeDeletionScheduled
        case changeDeletionCancelled
        case changeRecoveryCodesCreated
        case changeRecoveryCodeUsed
        case yourData
        case downloadData
        case confirmIdentityTitle
        case confirmIdentity

        // Passkeys of the account
        /// As the name of a provider.
        case passkey
        case passkeys
        case addPasskey
        case addPasskeyText
        case passkeyName
        case unnamedPasskey
        case passkeyBackedUp
        case passkeyOnOneDevice
        case neverUsed
        case passkeyNotAdded
        case passkeyThere
        case passkeysUnsupported

        // Deleting the account
        case deleteAccount
        case deleteAccountText
        case deleteAccountCheck
        case deleteAccountButton
        case accountDeleted
        case accountDeletedText
        /// {provider}: the provider's name.
        case consentLeft
        case deletionScheduled
        case keepAccount

        // The profile
        case displayName
        case displayNameHint
        case username
        case usernameHint
        case freeUsernames
        case phoneNumber
        case phoneNumberHint
        case completeProfile
        case completeProfileText

        // Groups
        case noGroups
        case newGroup
        case groupName
        case createGroup
        case invitations
        case invited
        case requestWaits
        case confirmationWaits
        case accept
        case decline
        case opennessOpen
        case opennessConfirm
        case opennessConsent
        case roleOwner
        case roleAdmin
        case roleMember
        case members
        case pending
        case pendingNumber
        case pendingRequest
        case pendingDoubt
        case you
        case unnamedPerson
        case confirmPerson
        case remove
        case listChanged
        case addPerson
        case personName
        case leaveGroup
        case invitationLinks
        case invitationLinksText
        case createLink
        case linkUses
        case validUntil
        case revokeLink
        case invitationLink
        case invitationLinkText

        // An invitation link
        case invitation
        case pasteInvitation
        case joinEffectMember
        case joinEffectConfirm
        case join
        case notNow
        case alreadyMember
        case openGroup

        // Errors, by their code
        case accountBlocked = "ACCOUNT_BLOCKED"
        case accountHeld = "ACCOUNT_HELD"
        case accountNotFound = "ACCOUNT_NOT_FOUND"
        case accountOpened = "ACCOUNT_OPENED"
        case avatarInvalid = "AVATAR_INVALID"
        case avatarTooLarge = "AVATAR_TOO_LARGE"
        case cannotBlockSelf = "CANNOT_BLOCK_SELF"
        case confirmationNeeded = "CONFIRMATION_NEEDED"
        case credentialsForeign = "CREDENTIALS_FOREIGN"
        case deviceNameInvalid = "DEVICE_NAME_INVALID"
        case displayNameInvalid = "DISPLAY_NAME_INVALID"
        case groupFull = "GROUP_FULL"
        case groupNameInvalid = "GROUP_NAME_INVALID"
        case groupNotFound = "GROUP_NOT_FOUND"
        case identityTaken = "IDENTITY_TAKEN"
        case invitationNotFound = "INVITATION_NOT_FOUND"
        case lastProvider = "LAST_PROVIDER"
        case linkInvalid = "LINK_INVALID"
        case linkOver = "LINK_OVER"
        case linkUsed = "LINK_USED"
        case memberGroupsFull = "MEMBER_GROUPS_FULL"
        case memberNotConfirmed = "MEMBER_NOT_CONFIRMED"
        case memberNotFound = "MEMBER_NOT_FOUND"
        case memberUnconfirmed = "MEMBER_UNCONFIRMED"
        case notAMember = "NOT_A_MEMBER"
        case notFound = "NOT_FOUND"
        case nothingToConfirm = "NOTHING_TO_CONFIRM"
        case outcomeUnknown = "OUTCOME_UNKNOWN"
        case ownerMustHandOver = "OWNER_MUST_HAND_OVER"
        case passkeyChallengeExpired = "PASSKEY_CHALLENGE_EXPIRED"
        case passkeyInvalid = "PASSKEY_INVALID"
        case passkeyNotFound = "PASSKEY_NOT_FOUND"
        case passkeyRejected = "PASSKEY_REJECTED"
        case passkeyUnknown = "PASSKEY_UNKNOWN"
        case permissionDenied = "PERMISSION_DENIED"
        case personChanged = "PERSON_CHANGED"
        case phoneInvalid = "PHONE_INVALID"
        case phoneNotAllowed = "PHONE_NOT_ALLOWED"
        case phoneTaken = "PHONE_TAKEN"
        case providerAccountDisabled = "PROVIDER_ACCOUNT_DISABLED"
        case providerAlreadyLinked = "PROVIDER_ALREADY_LINKED"
        case providerLinkedTooRecently = "PROVIDER_LINKED_TOO_RECENTLY"
        case providerUnavailable = "PROVIDER_UNAVAILABLE"
        case providerUnknown = "PROVIDER_UNKNOWN"
        case rateLimited = "RATE_LIMITED"
        case recentSignInRequired = "RECENT_SIGN_IN_REQUIRED"
        case required = "REQUIRED"
        case revisionMismatch = "REVISION_MISMATCH"
        case roleInsufficient = "ROLE_INSUFFICIENT"
        case sessionExpired = "SESSION_EXPIRED"
        case sessionNotFound = "SESSION_NOT_FOUND"
        case tooManyBlocked = "TOO_MANY_BLOCKED"
        case tooManyGroups = "TOO_MANY_GROUPS"
        case tooManyLinks = "TOO_MANY_LINKS"
        case tooManyPasskeys = "TOO_MANY_PASSKEYS"
        case tooManyPending = "TOO_MANY_PENDING"
        case unavailable = "UNAVAILABLE"
        case usernameInvalid = "USERNAME_INVALID"
        case usernameTaken = "USERNAME_TAKEN"
        case webStateInvalid = "WEB_STATE_INVALID"
    }
}

extension PageText.Key {
    /// The sentence for an error's code; nil for those that no user of a page meets.
    init?(code: String) {
        // Names of sentences that are no codes begin in lower case.
        guard let first = code.utf8.first, UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first else { return nil }
        self.init(rawValue: Self.meanings[code] ?? code)
    }

    /// Codes that mean to a user what another one does.
    static let meanings = [
        "ACCESS_TOKEN_EXPIRED": "SESSION_EXPIRED",
        "ACCESS_TOKEN_INVALID": "SESSION_EXPIRED",
        "AUTHENTICATION_REQUIRED": "SESSION_EXPIRED",
        "DATABASE_TIMEOUT": "UNAVAILABLE",
        "DATABASE_UNAVAILABLE": "UNAVAILABLE",
        "DEADLINE_EXCEEDED": "UNAVAILABLE",
        "HOLDER_UNKNOWN": "UNAVAILABLE",
        "INTERNAL": "UNAVAILABLE",
        "METHOD_SUSPENDED": "UNAVAILABLE",
        "PASSKEYS_NOT_ENABLED": "PROVIDER_UNKNOWN",
        "PASSKEY_MALFORMED": "PASSKEY_INVALID",
        "PASSKEY_NAME_INVALID": "DISPLAY_NAME_INVALID",
        "PASSKEY_TAKEN": "IDENTITY_TAKEN",
        "PROFILE_UNAVAILABLE": "UNAVAILABLE",
        "RESOURCE_EXHAUSTED": "RATE_LIMITED",
        "ROUTE_NOT_FOUND": "NOT_FOUND",
        "SESSION_INVALID": "SESSION_EXPIRED",
        "SESSION_REVOKED": "SESSION_EXPIRED",
        "TOO_MANY_ATTEMPTS": "RATE_LIMITED",
        "UNAUTHENTICATED": "SESSION_EXPIRED",
        "WEB_SIGN_IN_NOT_CONFIGURED": "PROVIDER_UNKNOWN",
        "WEB_TICKETS_TOO_MANY": "RATE_LIMITED",
    ]
}
