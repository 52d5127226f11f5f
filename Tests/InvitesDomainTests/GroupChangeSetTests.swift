import InvitesDomain
import Models
import Testing

struct GroupChangeSetTests {
    private let group = GroupID(high: 1, low: 1)

    private func member(_ number: Int) -> GroupChange {
        GroupChange(.memberChanged, groupID: group, memberID: MemberID(high: 2, low: UInt64(number)))
    }

    @Test func `Each change is included once, in order`() {
        let joined = GroupChange(.groupJoined, groupID: group, memberID: MemberID(high: 2, low: 1))
        let set = GroupChangeSet([joined, member(1), joined, member(1), member(2)])
        #expect(set.changes == [joined, member(1), member(2)])
    }

    @Test func `Many changed members of a group become one change, and other changes stay separate`() {
        let many = GroupChange(.memberChanged, groupID: group)
        let other = GroupChange(
            .memberChanged,
            groupID: GroupID(high: 1, low: 2),
            memberID: MemberID(high: 2, low: 1)
        )
        let few = (1...GroupChangeSet.membersToldMax).map(member)
        #expect(GroupChangeSet(few).changes == few)
        #expect(GroupChangeSet(few + [other, member(17), member(1), member(18)]).changes == [other, many])
        #expect(GroupChangeSet([member(1), many, member(2)]).changes == [many])
    }
}
