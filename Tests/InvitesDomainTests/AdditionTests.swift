import InvitesDomain
import Models
import Testing

struct AdditionTests {
    private let group = GroupID(high: 1, low: 1)
    private let maria = UserID(high: 2, low: 1)
    private let jose = UserID(high: 2, low: 2)

    private let phone: PhoneNumber

    init() throws { phone = try PhoneNumber("09171234567", policy: .philippines) }

    private func member(_ id: UInt64, _ state: Member.State, phone: PhoneNumber? = nil) throws -> Member {
        Member(
            id: MemberID(high: 3, low: id),
            groupID: group,
            state: state,
            role: state.userID == nil ? nil : .member,
            phone: phone ?? self.phone,
            displayName: nil,
            addedAtMilliseconds: 0,
            adders: [jose],
            viewer: MemberViewer(userID: jose, role: .member)
        )
    }

    private func decide(
        _ owner: UserID?,
        _ related: [Member],
        in openness: GroupOpenness = .open,
        count: Int = 1,
        max: Int = 10
    ) -> Addition {
        Addition.decide(
            phone,
            phoneOwner: owner,
            openness: openness,
            related: related,
            memberCount: count,
            membersMax: max
        )
    }

    @Test func `A number without a user waits`() { #expect(decide(nil, []) == .pending) }

    @Test func `A user's number makes a member at once`() { #expect(decide(maria, []) == .member(maria)) }

    @Test func `The same number again is the existing person`() throws {
        let pending = try member(1, .pending)
        #expect(decide(nil, [pending]) == .existing(pending))
        let linked = try member(2, .member(maria))
        #expect(decide(maria, [linked]) == .existing(linked))
    }

    @Test func `A number given up since still means the person added by it`() throws {
        let linked = try member(2, .member(maria))
        #expect(decide(nil, [linked]) == .existing(linked))
    }

    @Test func `A number with a new owner means the new owner`() throws {
        #expect(decide(jose, [try member(2, .member(maria))]) == .member(jose))
    }

    @Test func `A pending person has precedence over a former user of the number`() throws {
        let linked = try member(9, .member(maria))
        let pending = try member(1, .pending)
        #expect(decide(nil, [linked, pending]) == .existing(pending))
    }

    @Test(arguments: [GroupOpenness.confirm, .consent])
    func `Only an open group makes a member of a number at once`(openness: GroupOpenness) throws {
        #expect(decide(maria, [], in: openness) == .pending)
        let pending = try member(1, openness == .consent ? .invited : .pending)
        #expect(decide(maria, [pending], in: openness) == .existing(pending))
        let linked = try member(2, .member(maria))
        #expect(decide(maria, [linked], in: openness) == .existing(linked))
    }

    @Test func `In a group with consent no answer reveals a number's user`() throws {
        let other = try PhoneNumber("09171234568", policy: .philippines)
        // Maria is in the group by another number, which only she and profile know as hers.
        let byOther = try member(2, .member(maria), phone: other)
        #expect(decide(maria, [byOther], in: .consent) == .pending)
        #expect(decide(maria, [byOther], in: .confirm) == .existing(byOther))
        // She was added by this number, and no longer has it: whether it has another user makes no difference.
        let before = try member(3, .member(maria))
        #expect(decide(jose, [before], in: .consent) == .pending)
        #expect(decide(nil, [before], in: .consent) == .pending)
    }

    @Test func `A full group accepts nobody new, but finds existing people`() throws {
        #expect(decide(nil, [], count: 10) == .full)
        #expect(decide(maria, [], count: 11) == .full)
        #expect(decide(nil, [], count: 9) == .pending)
        let linked = try member(2, .member(maria))
        #expect(decide(maria, [linked], count: 10) == .existing(linked))
    }
}
