import InvitesDomain
import Models
import Testing

struct AdditionTests {
    private let group = GroupID(high: 1, low: 1)
    private let maria = UserID(high: 2, low: 1)
    private let jose = UserID(high: 2, low: 2)

    private func member(_ id: UInt64, _ state: Member.State) throws -> Member {
        Member(
            id: MemberID(high: 3, low: id),
            groupID: group,
            state: state,
            phone: try PhoneNumber("09171234567", policy: .philippines),
            displayName: nil,
            addedAtMilliseconds: 0
        )
    }

    private func decide(_ owner: UserID?, _ related: [Member], count: Int = 1, max: Int = 10) -> Addition {
        Addition.decide(phoneOwner: owner, related: related, memberCount: count, membersMax: max)
    }

    @Test func `A number that nobody has is awaited`() { #expect(decide(nil, []) == .pending) }

    @Test func `A number that a user has makes a member at once`() { #expect(decide(maria, []) == .member(maria)) }

    @Test func `The same number again is the person who is there`() throws {
        let pending = try member(1, .pending)
        #expect(decide(nil, [pending]) == .existing(pending))
        let linked = try member(2, .member(maria))
        #expect(decide(maria, [linked]) == .existing(linked))
    }

    @Test func `A number given up since still means the person added by it`() throws {
        let linked = try member(2, .member(maria))
        #expect(decide(nil, [linked]) == .existing(linked))
    }

    @Test func `A number that has a new owner means the new owner`() throws {
        #expect(decide(jose, [try member(2, .member(maria))]) == .member(jose))
    }

    @Test func `One who waits comes before one who had the number`() throws {
        let linked = try member(9, .member(maria))
        let pending = try member(1, .pending)
        #expect(decide(nil, [linked, pending]) == .existing(pending))
    }

    @Test func `A full group takes nobody new, but knows those who are there`() throws {
        #expect(decide(nil, [], count: 10) == .full)
        #expect(decide(maria, [], count: 11) == .full)
        #expect(decide(nil, [], count: 9) == .pending)
        let linked = try member(2, .member(maria))
        #expect(decide(maria, [linked], count: 10) == .existing(linked))
    }
}
