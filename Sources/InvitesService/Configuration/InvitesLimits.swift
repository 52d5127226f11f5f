import ServiceKit

/// How much a user may do with groups, how much all who come from one address, and how large a group gets.
struct InvitesLimits: Sendable {
    /// People whom a user adds to groups. Each tells whether a number is a user's, and leaves a row.
    var userAdds = Quota.daily("adds", countMax: 500)
    /// People who are added from one address, behind which there may be a whole office or a mobile network.
    var addressAdds = Quota.daily("adds", countMax: 5_000)
    /// Groups that a user makes.
    var userGroups = Quota.daily("groups", countMax: 20)
    /// Groups that a user has made at all.
    var groupsMax = 200
    /// Members that a group may have, pending ones included.
    var membersMax = 1_000
}
