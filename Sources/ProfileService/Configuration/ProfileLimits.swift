import ProfileDomain
import ServiceKit

/// How often phone numbers may be tried and taken, by a user and by all who come from one address; and which usernames
/// nobody may take.
struct ProfileLimits: Sendable {
    /// Numbers of others that a user tries.
    var tries = TryLimit()
    /// Numbers that a user takes.
    var claims = TryLimit(triesMax: 5, windowMilliseconds: 86_400_000)
    /// Numbers of others that are tried from one address.
    var addressTries = Quota(kind: "phone tries", countMax: 500, windowMilliseconds: 3_600_000)
    /// Numbers that are taken from one address, behind which there may be a whole office or a mobile network.
    var addressClaims = Quota.daily("phone claims", countMax: 1_000)
    /// Usernames that nobody may take.
    var reservedUsernames = ReservedUsernames()
}
