import InvitesDomain
import Models
import ServiceKit

/// The parameters of the model: the same limits as the stores have.
struct PlaceRules: Sendable {
    var membersMax = 9
    var pendingMax = 12
    /// For how long a number waits; nil for ever.
    var pendingLifetimeMilliseconds: Int64?
    var adds = Quota.daily("adds", countMax: 1_000_000)
    var numbers = Quota(kind: "numbers", countMax: 1_000_000, windowMilliseconds: 30 * 86_400_000)
    var groups = Quota.daily("groups", countMax: 1_000_000)
    var links = Quota.daily("links", countMax: 1_000_000)
    var groupChanges = Quota.daily("group changes", countMax: 1_000_000)
    var groupsMax = 10_000

    static let usual = PlaceRules(pendingLifetimeMilliseconds: 3 * 86_400_000)
}

/// A member of a group, or a pending person.
struct PlaceRow: Equatable, Sendable {
    let id: MemberID
    var userID: UserID?
    var phone: String?
    var name: String?
    var addedBy: UserID
    /// Members who added the person later.
    var alsoAddedBy: [UserID] = []
    var addedAt: Int64
    var linkedAt: Int64?
    var isAdmin = false
    var confirmedBy: UserID?
    var isInDoubt = false
    var expiresAt: Int64?
    var declinedBy: UserID?

    /// Whether the row counts: a pending one whose time is over does not.
    func isLive(_ now: Int64) -> Bool { userID != nil || (expiresAt.map { $0 > now } ?? true) }

    var inviters: [UserID] { [addedBy] + alsoAddedBy }

    /// Whether the row has no effect for the user who declined it: they blocked its inviters, who have left.
    var isLeftBehind: Bool { declinedBy != nil && alsoAddedBy.contains(PlaceState.nobody) }

    /// The row has no user, and waits for its number.
    mutating func wait() {
        (userID, linkedAt, isInDoubt, declinedBy) = (nil, nil, false, nil)
    }

    /// The row belongs to a user.
    mutating func seat(_ user: UserID, _ now: Int64, confirmedBy: UserID?) {
        (userID, linkedAt, expiresAt, declinedBy, self.confirmedBy) = (user, now, nil, nil, confirmedBy)
    }
}

/// A request to join.
struct PlaceRequest: Equatable, Sendable {
    var id: MemberID
    var expiresAt: Int64?

    func isLive(_ now: Int64) -> Bool { expiresAt.map { $0 > now } ?? true }
}

/// An additional number of a member, beside the one of their row.
struct PlaceMerged: Equatable, Sendable {
    var id: MemberID
    var name: String?
    var addedBy: UserID
    var addedAt: Int64
}

/// The key of an additional number.
struct MergedKey: Hashable, Sendable {
    let userID: UserID
    let phone: String
}

/// A link by which people join.
struct PlaceLink: Equatable, Sendable {
    var createdBy: UserID
    let expiresAt: Int64
    let usesMax: Int?
    var uses = 0
    var isRevoked = false
    var users: Set<UserID> = []

    func isGood(_ now: Int64) -> Bool { !isRevoked && expiresAt > now && usesMax.map { uses < $0 } ?? true }
}

/// A group with all its rows.
struct PlaceGroup: Equatable, Sendable {
    var name: String
    var ownerID: UserID
    /// The creator, who needn't be the owner now.
    var createdBy: UserID
    var openness: GroupOpenness
    let createdAt: Int64
    var rows: [MemberID: PlaceRow] = [:]
    var requests: [UserID: PlaceRequest] = [:]
    var merged: [MergedKey: PlaceMerged] = [:]
    var links: [GroupLinkID: PlaceLink] = [:]

    func member(_ userID: UserID) -> PlaceRow? { rows.values.first { $0.userID == userID } }
    func waiting(_ phone: String) -> PlaceRow? { rows.values.first { $0.userID == nil && $0.phone == phone } }
    func isFull(_ now: Int64, _ rules: PlaceRules) -> Bool { liveCount(now) >= rules.membersMax }
    func liveCount(_ now: Int64) -> Int { rows.values.count { $0.isLive(now) } }

    func role(of userID: UserID) -> GroupRole? {
        guard let row = member(userID) else { return nil }
        return ownerID == userID ? .owner : row.isAdmin ? .admin : .member
    }
}

/// A user who blocks another's additions.
struct PlaceBlock: Hashable, Sendable {
    let userID: UserID
    let inviterID: UserID
}

/// A counted action of a user in a window.
struct CountKey: Hashable, Sendable {
    let userID: UserID
    let kind: String
}

/// The count, and when the window ends.
struct Count: Equatable, Sendable {
    var count: Int
    var endsAt: Int64
}

/// A lookup of a number by a user.
struct AskedKey: Hashable, Sendable {
    let userID: UserID
    let phone: String
}

/// A client's key of a group that it created.
struct CreationKey: Hashable, Sendable {
    let userID: UserID
    let key: IdempotencyKey
}

/// A user's new membership in a group.
struct Landing: Hashable, Sendable {
    let userID: UserID
    let groupID: GroupID
}

/// All that the invites service stores, as plain values. What each operation does to it is written separately, independently of
/// the service's implementation.
struct PlaceState: Equatable, Sendable {
    static let nobody = UserID(high: 0, low: 0)

    /// The user of each number, as far as profile has reported.
    var owners: [String: UserID] = [:]
    /// The user who has proven each number.
    var provers: [String: UserID] = [:]
    var groups: [GroupID: PlaceGroup] = [:]
    var closed: Set<UserID> = []
    var held: [UserID: EventID] = [:]
    var refused: Set<EventID> = []
    var blocks: Set<PlaceBlock> = []
    var keys: [CreationKey: GroupID] = [:]
    var counts: [CountKey: Count] = [:]
    var asked: [AskedKey: Int64] = [:]
    /// The events that webhook targets get, and how often.
    var told: [Landing: Int] = [:]

    // State of the model only.

    /// The request of each key.
    var keyTexts: [CreationKey: String] = [:]
    /// The applied events.
    var applied: Set<EventID> = []
    private var freshCount: UInt64 = 0

    /// An id that the service will make: greater than all earlier ones.
    mutating func freshID() -> MemberID {
        freshCount += 1
        return MemberID(high: .max, low: freshCount)
    }

    // MARK: - Queries of operations

    func group(_ id: GroupID, for userID: UserID) throws(InvitesError) -> (PlaceGroup, GroupRole) {
        // Between the closing of an account and its leaving of groups the user is a member, and can change nothing.
        guard !closed.contains(userID), let group = groups[id], let role = group.role(of: userID) else {
            throw .notAMember
        }
        return (group, role)
    }

    func blocks(_ userID: UserID, _ inviterID: UserID) -> Bool {
        blocks.contains(PlaceBlock(userID: userID, inviterID: inviterID))
    }

    /// Whether an inviter whom the person doesn't block has added them.
    func isWanted(_ row: PlaceRow, by userID: UserID) -> Bool { !row.inviters.allSatisfy { blocks(userID, $0) } }

    func requireOpen(_ userID: UserID) throws(InvitesError) {
        if closed.contains(userID) { throw .accountClosed }
        if held[userID] != nil { throw .accountHeld }
    }

    func domain(_ id: GroupID, for userID: UserID) throws(InvitesError) -> Group {
        let (group, role) = try group(id, for: userID)
        return Group(
            id: id,
            name: GroupName(stored: group.name),
            ownerID: group.ownerID,
            openness: group.openness,
            callerRole: role,
            createdAtMilliseconds: group.createdAt
        )
    }

    /// Whether a row is a membership by a number alone, which its user hasn't proven.
    func isByUnprovenNumber(_ row: PlaceRow) -> Bool {
        guard let userID = row.userID, let phone = row.phone, row.confirmedBy == nil else { return false }
        return provers[phone] != userID
    }

    /// Refuses a plain member by an unproven number alone.
    func requireProven(_ userID: UserID, in group: PlaceGroup) throws(InvitesError) {
        guard group.role(of: userID) == .member, let row = group.member(userID), isByUnprovenNumber(row) else { return }
        throw .invitation(.memberUnconfirmed)
    }

    /// A row as a member sees it.
    ///
    /// - Parameter isNamed: whether the member has just given the number.
    func domain(
        _ row: PlaceRow,
        of id: GroupID,
        _ group: PlaceGroup,
        seenBy viewerID: UserID,
        isNamed: Bool = false
    ) -> Member {
        Member(
            id: row.id,
            groupID: id,
            state: row.userID.map(Member.State.member) ?? (group.openness == .consent ? .invited : .pending),
            role: row.userID.map { $0 == group.ownerID ? .owner : row.isAdmin ? .admin : .member },
            isUnconfirmed: row.isInDoubt,
            byUnprovenNumber: isByUnprovenNumber(row),
            phone: row.phone.flatMap(PhoneNumber.init(stored:)),
            displayName: row.name.map(ContactName.init(stored:)),
            addedAtMilliseconds: row.addedAt,
            adders: row.inviters + (isNamed ? [viewerID] : []),
            viewer: MemberViewer(userID: viewerID, role: group.role(of: viewerID) ?? .member)
        )
    }

    mutating func tell(_ userID: UserID, in groupID: GroupID, addedBy: UserID) {
        if addedBy != userID { told[Landing(userID: userID, groupID: groupID), default: 0] += 1 }
    }

    /// Adds one to a count, and returns it.
    mutating func count(_ quota: Quota, of userID: UserID, _ amount: Int, _ now: Int64) -> Int {
        guard amount > 0 else { return 0 }
        let key = CountKey(userID: userID, kind: quota.kind)
        if let count = counts[key], count.endsAt > now {
            counts[key]?.count += amount
        } else {
            counts[key] = Count(count: amount, endsAt: now + quota.windowMilliseconds)
        }
        return counts[key]?.count ?? 0
    }
}
