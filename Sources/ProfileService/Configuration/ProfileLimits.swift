import ProfileDomain
import ServiceKit

/// How often phone numbers may be tried and taken, by a user and by all users of one address; and which usernames are reserved.
struct ProfileLimits: Sendable {
    /// Numbers of others that a user tries.
    var tries = TryLimit()
    /// Numbers that a user takes.
    var claims = TryLimit(triesMax: 5, windowMilliseconds: 86_400_000)
    /// Numbers of others that are tried from one address.
    var addressTries = Quota(kind: "phone tries", countMax: 500, windowMilliseconds: 3_600_000)
    /// Numbers that are taken from one address, which may be a whole office or a mobile network.
    var addressClaims = Quota.daily("phone claims", countMax: 1_000)
    /// How long a number that its user gave up can't be taken by others without proof, in milliseconds; 0 for not at all.
    var coolDownMilliseconds: Int64 = 86_400_000
    /// After how long without activity a user who has proven a number loses it to another user who proves it, in milliseconds.
    var provenIdleMilliseconds: Int64 = 180 * 86_400_000
    /// Usernames that a user asks about, or fails to take.
    var usernameChecks = Quota(kind: "username checks", countMax: 200, windowMilliseconds: 3_600_000)
    /// Usernames that are asked about from one address.
    var addressUsernameChecks = Quota(kind: "username checks", countMax: 5_000, windowMilliseconds: 3_600_000)
    /// Images that a user uploads.
    var avatarUploads = Quota.daily("avatar uploads", countMax: 20)
    /// Bytes of an image that is uploaded.
    var avatarBytesMax = 512 << 10
    /// Usernames that nobody may take.
    var reservedUsernames = ReservedUsernames()
}
