import Models

/// What is known about a group while people are added to it: its members who may be these people, and the number of its members.
public struct Roster: Sendable {
    /// The outcome of adding a person, as far as the adder may know it.
    public enum Answer: Sendable, Hashable {
        /// The person is in the group by this number: nothing new.
        case known(Member)
        /// The person is in the group by another number: the group learns this one too.
        case recognized(Member)
        /// The person is in the group, or awaited, from now on.
        case added(Member)
        /// The person can't be added.
        case refused(InvitesError)
    }

    /// The group.
    public let groupID: GroupID
    /// How people become members of it.
    public let openness: GroupOpenness
    /// How many members it may have.
    public let membersMax: Int
    /// Who has each number to add; a number that isn't in it belongs to no user.
    public let owners: [PhoneNumber: UserID]
    /// The member who adds.
    public let adder: MemberViewer
    /// The numbers that their owners have proven.
    public let provenPhones: Set<PhoneNumber>
    /// Owners for whom it isn't decided whether their accounts are closed.
    public let held: Set<UserID>

    /// All members, pending ones included.
    private var memberCount: Int
    private var byPhone: [PhoneNumber: [Member]] = [:]
    private var byUser: [UserID: Member] = [:]

    /// A roster.
    ///
    /// - Parameter related: the members who are one of the owners or were added by one of the numbers.
    public init(
        groupID: GroupID,
        openness: GroupOpenness,
        adder: MemberViewer,
        owners: [PhoneNumber: UserID],
        provenPhones: Set<PhoneNumber>,
        held: Set<UserID>,
        related: [Member],
        memberCount: Int,
        membersMax: Int
    ) {
        self.groupID = groupID
        self.openness = openness
        self.adder = adder
        self.owners = owners
        self.provenPhones = provenPhones
        self.held = held
        self.memberCount = memberCount
        self.membersMax = membersMax
        for member in related { index(member) }
    }

    /// Adds a person, so that later additions find them.
    ///
    /// - Parameters:
    ///   - id: the id of the membership, if there will be one.
    ///   - now: now, in Unix milliseconds.
    public mutating func add(_ invitee: Invitee, id: MemberID, nowMilliseconds now: Int64) -> Answer {
        let owner = owners[invitee.phone]
        // In other groups nothing is decided about the owner, and the caller must not learn that there is one.
        if openness == .open, let owner, held.contains(owner) { return .refused(.accountHeld) }
        let decision = Addition.decide(
            invitee.phone,
            phoneOwner: owner,
            openness: openness,
            related: (byPhone[invitee.phone] ?? []) + (owner.flatMap { byUser[$0] }.map { [$0] } ?? []),
            memberCount: memberCount,
            membersMax: membersMax
        )
        let state: Member.State
        switch decision {
        case .existing(var member):
            guard member.phone == invitee.phone else { return .recognized(member) }
            // The caller has just named the number.
            member.isPhoneShown = true
            return .known(member)
        case .full: return .refused(.groupFull(membersMax: membersMax))
        case .member(let userID): state = .member(userID)
        case .pending: state = openness == .consent ? .invited : .pending
        }
        let member = Member(
            id: id,
            groupID: groupID,
            state: state,
            role: state.userID == nil ? nil : .member,
            byUnprovenNumber: state.userID != nil && !provenPhones.contains(invitee.phone),
            phone: invitee.phone,
            displayName: invitee.displayName,
            addedAtMilliseconds: now,
            adders: [adder.userID],
            viewer: adder
        )
        memberCount += 1
        index(member)
        return .added(member)
    }

    private mutating func index(_ member: Member) {
        if let phone = member.phone { byPhone[phone, default: []].append(member) }
        if let userID = member.userID { byUser[userID] = member }
    }
}
