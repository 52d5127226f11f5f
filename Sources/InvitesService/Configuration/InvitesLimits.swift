import Postgres
import ServiceKit

/// Limits for a user's actions in groups, for all users of one address, and for the size of a group.
struct InvitesLimits: Sendable {
    /// People whom a user adds to groups. Each addition reveals whether a number is a user's, and leaves a row.
    var userAdds = Quota.daily("adds", countMax: 500)
    /// People added from one address, which may be a whole office or a mobile network.
    var addressAdds = Quota.daily("adds", countMax: 5_000)
    /// Different numbers that a user asks about within 30 days. Every new number counts, and only a repeated one is free.
    var userNumbers = Quota(kind: "numbers", countMax: 2_000, windowMilliseconds: 30 * 86_400_000)
    /// People whom a user added and who are awaited, in all groups together.
    var pendingMax = 2_000
    /// Groups that a user makes.
    var userGroups = Quota.daily("groups", countMax: 20)
    /// Changes of names, opennesses and owners of groups, and of roles of members, by one user.
    var userGroupChanges = Quota.daily("group changes", countMax: 100)
    /// Groups that a user has made in total.
    var groupsMax = 200
    /// Groups at which others can't make a user a member of more, counting all that the user is in; and groups that await one number.
    var membershipsMax = 1_000
    /// Members that a group may have, pending ones included.
    var membersMax = 1_000
    /// Links by which people join that a user makes.
    var userLinks = Quota.daily("links", countMax: 100)
    /// Invalid tokens that a user shows.
    var userLinkTries = Quota.daily("link tries", countMax: 50)
    /// Invalid tokens that are shown from one address.
    var addressLinkTries = Quota.daily("link tries", countMax: 5_000)
    /// How long a number is awaited, in milliseconds; nil for ever.
    var pendingLifetimeMilliseconds: Int64?

    /// Groups at which a user can't join or make more, counting all that they are in. Others can't use this up: nobody can add a user who
    /// is in ``membershipsMax`` groups, and as many again are the user's to choose.
    var chosenMembershipsMax: Int { 2 * membershipsMax }

    /// The time until which a number added now is awaited; nil for ever.
    func pendingExpiry(nowMilliseconds: Int64) -> PostgresTimestamp? {
        pendingLifetimeMilliseconds.map { PostgresTimestamp(milliseconds: nowMilliseconds + $0) }
    }
}
