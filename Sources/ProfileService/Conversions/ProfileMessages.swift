import API
import Models
import ProfileDomain

extension ProfileV1.Profile {
    /// The message of a profile.
    init(_ profile: Profile, required: RequiredFields) {
        self.init()
        userID = profile.userID.description
        displayName = profile.displayName?.value ?? ""
        username = profile.username?.value ?? ""
        phoneNumber = profile.phone?.e164 ?? ""
        missingFields = required.missing(in: profile).map(\.rawValue)
        updatedAtMs = profile.updatedAtMilliseconds
        phoneProven = profile.isPhoneProven
        phoneTakenAtMs = profile.phoneTakenAtMilliseconds ?? 0
        revision = profile.revision
        avatar = profile.avatar?.value ?? ""
    }
}

extension ProfileV1.PublicProfile {
    /// The message of a public profile.
    init(_ profile: PublicProfile) {
        self.init()
        userID = profile.userID.description
        displayName = profile.displayName?.value ?? ""
        username = profile.username?.value ?? ""
        avatar = profile.avatar?.value ?? ""
    }
}

extension ProfileChange {
    /// The change of a request.
    init(
        _ request: ProfileV1.UpdateProfileRequest,
        policy: PhonePolicy,
        required: RequiredFields
    ) throws(ProfileError) {
        try self.init(
            displayName: request.hasDisplayName ? request.displayName : nil,
            phoneNumber: request.hasPhoneNumber ? request.phoneNumber : nil,
            username: request.hasUsername ? request.username : nil,
            avatar: request.hasAvatar ? request.avatar : nil,
            expectedRevision: request.hasExpectedRevision ? request.expectedRevision : nil,
            policy: policy,
            required: required
        )
    }
}
