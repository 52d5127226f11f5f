import InvitesDomain
import Models
import Testing

/// What members are shown of people about whom something is undecided.
struct PendingPersonTests {
    private let maria = UserID(high: 2, low: 1)
    private let jose = UserID(high: 2, low: 2)

    private func person(
        _ kind: PendingPerson.Kind,
        addedBy: UserID? = nil,
        askedBy role: GroupRole,
        _ openness: GroupOpenness
    ) -> PendingPerson {
        PendingPerson(
            PendingPerson.Facts(
                id: MemberID(high: 3, low: 1),
                groupID: GroupID(high: 1, low: 1),
                kind: kind,
                userID: jose,
                phone: nil,
                displayName: nil,
                addedBy: addedBy,
                isAddedByCaller: addedBy == maria,
                sinceMilliseconds: 0,
                expiresAtMilliseconds: nil
            ),
            askedBy: maria,
            role: role,
            openness: openness
        )
    }

    @Test func `A number's user is shown only where and to whom it matters for a decision`() {
        for openness in GroupOpenness.allCases {
            for role in GroupRole.allCases {
                for addedBy in [maria, jose] {
                    let shown = person(.number, addedBy: addedBy, askedBy: role, openness)
                    let isShown = openness == .confirm && (role != .member || addedBy == maria)
                    #expect(shown.userID == (isShown ? jose : nil) && shown.mayConfirm == isShown)
                }
            }
        }
    }

    @Test func `Requests to join are for admins and the owner`() {
        for role in GroupRole.allCases {
            let shown = person(.request, askedBy: role, .confirm)
            #expect(shown.mayConfirm == (role != .member) && (shown.userID == nil) == (role == .member))
        }
    }

    @Test func `A member in doubt is visible to all, and only the owner may confirm themselves`() {
        for openness in GroupOpenness.allCases {
            #expect(person(.doubt, addedBy: jose, askedBy: .member, openness).userID == jose)
            #expect(!person(.doubt, addedBy: jose, askedBy: .member, openness).mayConfirm)
            #expect(person(.doubt, addedBy: maria, askedBy: .member, openness).mayConfirm)
            #expect(person(.doubt, askedBy: .admin, openness).mayConfirm)
        }
        #expect(!PendingPerson.mayKeep(jose, callerID: jose, role: .admin))
        #expect(PendingPerson.mayKeep(jose, callerID: jose, role: .owner))
        #expect(PendingPerson.mayKeep(jose, callerID: maria, role: .member))
    }
}

/// Which links may be made.
struct NewGroupLinkTests {
    @Test(arguments: [(0, 0, 604_800, nil), (60, 1, 60, 1), (7_776_000, 1_000, 7_776_000, 1_000)])
    func `A link is good for a minute to ninety days, for a thousand users or any number`(
        seconds: Int,
        uses: Int,
        lifetime: Int,
        usesMax: Int?
    ) throws {
        let link = try NewGroupLink(lifetimeSeconds: seconds, usesMax: uses)
        #expect(link.lifetimeSeconds == lifetime && link.usesMax == usesMax)
    }

    @Test(arguments: [(59, 0, 1), (7_776_001, 0, 1), (-1, -1, 2), (0, 1_001, 1), (1, 2_000, 2)])
    func `Other links are refused with all that is wrong`(seconds: Int, uses: Int, faultCount: Int) {
        #expect(throws: InvitesError.self) { try NewGroupLink(lifetimeSeconds: seconds, usesMax: uses) }
        do {
            _ = try NewGroupLink(lifetimeSeconds: seconds, usesMax: uses)
        } catch {
            guard case .invalidFields(let faults) = error else { return #expect(Bool(false)) }
            #expect(faults.count == faultCount)
        }
    }
}
