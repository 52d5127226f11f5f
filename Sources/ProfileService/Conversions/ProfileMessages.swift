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
    }
}

extension ProfileChange {
    /// The change that a request asks for.
    init(
        _ request: ProfileV1.UpdateProfileRequest,
        policy: PhonePolicy,
        required: RequiredFields
    ) throws(ProfileFault) {
        try self.init(
            displayName: request.hasDisplayName ? request.displayName : nil,
            phoneNumber: request.hasPhoneNumber ? request.phoneNumber : nil,
            username: request.hasUsername ? request.username : nil,
            policy: policy,
            required: required
        )
    }
}
