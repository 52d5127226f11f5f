import Postgres
import ServiceKit

/// How much a user may do with groups, how much all who come from one address, and how large a group gets.
struct InvitesLimits: Sendable {
    /// People whom a user adds to groups. Each tells whether a number is a user's, and leaves a row.
    var userAdds = Quota.daily("adds", countMax: 500)
    /// People who are added from one address, behind which there may be a whole office or a mobile network.
    var addressAdds = Quota.daily("adds", countMax: 5_000)
    /// Different numbers that a user asks about within 30 days: none is free but one that was asked about before.
    var userNumbers = Quota(kind: "numbers", countMax: 2_000, windowMilliseconds: 30 * 86_400_000)
    /// People whom a user added and who are awaited, in all groups together.
    var pendingMax = 2_000
    /// Groups that a user makes.
    var userGroups = Quota.daily("groups", countMax: 20)
    /// Names, opennesses and owners that a user gives to groups, and roles to members.
    var userGroupChanges = Quota.daily("group changes", countMax: 100)
    /// Groups that a user has made at all.
    var groupsMax = 200
    /// Groups that others make a user a member of, with all that the user is in, and groups that await one number.
    var membershipsMax = 1_000
    /// Members that a group may have, pending ones included.
    var membersMax = 1_000
    /// Links by which people join that a user makes.
    var userLinks = Quota.daily("links", countMax: 100)
    /// Tokens of no link that a user shows.
    var userLinkTries = Quota.daily("link tries", countMax: 50)
    /// Tokens of no link that are shown from one address.
    var addressLinkTries = Quota.daily("link tries", countMax: 5_000)
    /// For how long a number is awaited, in milliseconds; nil for ever.
    var pendingLifetimeMilliseconds: Int64?

    /// Groups that a user is a member of by what they do themselves, with all that they are in. Nobody can use this up for them: others add
    /// nobody who is in ``membershipsMax`` groups, and as many again are the user's to choose.
    var chosenMembershipsMax: Int { 2 * membershipsMax }

    /// Until when a number is awaited that is added now; nil for ever.
    func pendingExpiry(nowMilliseconds: Int64) -> PostgresTimestamp? {
        pendingLifetimeMilliseconds.map { PostgresTimestamp(milliseconds: nowMilliseconds + $0) }
    }
}
