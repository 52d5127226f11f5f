import API
import Models
import Postgres
import ServiceKit
import ServiceModels
import Testing

@testable import InvitesService

/// One number that several members have added, of whom its user blocks some.
@Suite(.serialized) struct SeveralInvitersTests {
    /// A group of Maria's that Ana has joined, and José, who has number 1 and blocks Maria.
    private struct Scene {
        let maria = someone()
        let ana = someone()
        let jose = someone()
        let group: String

        init(_ service: InvitesFixture, _ openness: AppV1.GroupOpenness) async throws {
            group = try await service.group(.open, by: maria).groupID
            try await service.join([ana], to: group, by: maria)
            _ = try await service.update(group, by: maria, openness: openness)
            try await service.apply(claimed(1, by: jose))
            try await service.block(maria, by: jose)
        }
    }

    @Test func `Blocking one inviter hides no other inviter's invitation`() async throws {
        try await InvitesFixture.run { service in
            let scene = try await Scene(service, .consent)
            let hers = try await service.add(phone(1), named: "Joey", to: scene.group, by: scene.maria)
            #expect(try await service.invitations(of: scene.jose).invitations.isEmpty)
            let anas = try await service.add(phone(1), named: "Jose", to: scene.group, by: scene.ana)
            #expect(anas == hers, "she sees as little as before")
            let shown = try await service.invitations(of: scene.jose).invitations
            #expect(shown.map(\.memberID) == [hers.memberID])
            #expect(shown.map(\.addedByUserID) == [scene.ana.description])
            // Once she leaves, nothing of her is stored.
            #expect(try await service.count("SELECT count(*) FROM members WHERE cardinality(also_added_by) > 0") == 1)
            try await service.leave(scene.group, scene.ana)
            #expect(try await service.count("SELECT count(*) FROM members WHERE cardinality(also_added_by) > 0") == 0)
            #expect(try await service.invitations(of: scene.jose).invitations.isEmpty)
        }
    }

    @Test func `The invited user accepts an inviter whom they don't block`() async throws {
        try await InvitesFixture.run { service in
            let scene = try await Scene(service, .consent)
            let id = try await service.add(phone(1), to: scene.group, by: scene.maria).memberID
            #expect(
                await outcome { try await service.accept(id, in: scene.group, by: scene.jose) }
                    == "INVITATION_NOT_FOUND"
            )
            try await service.add(phone(1), to: scene.group, by: scene.ana)
            #expect(try await service.accept(id, in: scene.group, by: scene.jose).userID == scene.jose.description)
        }
    }

    @Test func `A blocked inviter isn't shown the person, and others confirm`() async throws {
        try await InvitesFixture.run { service in
            let scene = try await Scene(service, .confirm)
            let (group, maria, ana, jose) = (scene.group, scene.maria, scene.ana, scene.jose)
            let id = try await service.add(phone(1), to: group, by: maria).memberID
            try await service.add(phone(1), to: group, by: ana)
            #expect(try await service.invitationIDs(of: jose) == [id])
            let shown = try await service.pending(of: group, askedBy: ana).people
            #expect(shown.map(\.userID) == [jose.description] && shown.map(\.mayConfirm) == [true])
            let hidden = try await service.pending(of: group, askedBy: maria).people
            #expect(hidden.map(\.userID) == [""] && hidden.map(\.mayConfirm) == [false])
            #expect(await outcome { try await service.confirm(id, as: jose, in: group, by: maria) } == "PERSON_CHANGED")
            #expect(try await service.confirm(id, as: jose, in: group, by: ana).userID == jose.description)
        }
    }

    @Test func `In an open group a later user of the number is a member if an inviter whom they don't block added it`()
        async throws
    {
        try await InvitesFixture.run { service in
            let scene = try await Scene(service, .open)
            try await service.apply(released(1, by: scene.jose))
            let id = try await service.add(phone(1), to: scene.group, by: scene.maria).memberID
            try await service.apply(claimed(1, by: scene.jose))
            #expect(try await service.groups(of: scene.jose).groups.isEmpty)
            try await service.apply(released(1, by: scene.jose))
            try await service.add(phone(1), to: scene.group, by: scene.ana)
            try await service.apply(claimed(1, by: scene.jose))
            #expect(try await service.memberID(of: scene.jose, in: scene.group, askedBy: scene.ana) == id)
        }
    }

    @Test func `An inviter isn't recorded if the addition is otherwise refused, and their number is limited`()
        async throws
    {
        var limits = InvitesFixture.unlimited
        limits.userAdds = .daily("adds", countMax: 1)
        try await InvitesFixture.run(limits: limits) { service in
            let scene = try await Scene(service, .consent)
            let people = (0..<12).map { _ in someone() }
            for person in people {
                let token = try await service.link(to: scene.group, by: scene.maria, uses: 1).token
                try await service.join(by: token, person)
                // This user may add one more: then the pending number records the inviter, and the next number is refused.
                let own = try await service.group(by: person)
                try await service.add(phone(9), to: own, by: person)
            }
            let first = try await service.add([phone(1)], to: scene.group, by: scene.ana)
            for person in people {
                let results = try await service.add([phone(1), phone(2)], to: scene.group, by: person)
                #expect(results[0] == first[0])
                #expect(results[1].refusal.reason == "TOO_MANY_ATTEMPTS")
            }
            #expect(try await service.count("SELECT max(cardinality(also_added_by)) FROM members") == 8)
            #expect(try await service.count("SELECT count(*) FROM phones WHERE right(phone, 1) = '2'") == 0)
        }
    }

    @Test func `A refusal that only records an inviter isn't counted`() async throws {
        var limits = InvitesFixture.unlimited
        limits.addressAdds = .daily("adds", countMax: 1)
        try await InvitesFixture.run(limits: limits) { service in
            let scene = try await Scene(service, .consent)
            try await service.add(
                phone(9),
                to: try await service.group(by: scene.maria),
                by: scene.maria,
                from: "203.0.113.5"
            )
            try await service.add(phone(1), to: scene.group, by: scene.maria)
            let results = try await service.add(
                [phone(1), phone(2)],
                to: scene.group,
                by: scene.ana,
                from: "203.0.113.5"
            )
            #expect(results[0].member.state == .invited && results[1].refusal.reason == "TOO_MANY_ATTEMPTS")
            #expect(try await service.count("SELECT count(*) FROM members WHERE cardinality(also_added_by) > 0") == 1)
            let hers = try await service.database.query("SELECT FROM quotas WHERE subject = \(scene.ana.bytes)")
            #expect(hers.isEmpty)
        }
    }

    @Test func `A second addition in a group with consent doesn't reveal a block`() async throws {
        try await InvitesFixture.run { service in
            let scene = try await Scene(service, .consent)
            let id = try await service.add(phone(1), to: scene.group, by: scene.ana).memberID
            try await service.accept(id, in: scene.group, by: scene.jose)
            let byAna = try await service.add(phone(1), to: scene.group, by: scene.ana)
            #expect(try await service.add(phone(1), to: scene.group, by: scene.maria) == byAna)
            #expect(byAna.memberID == id)
            #expect(try await service.members(of: scene.group, askedBy: scene.maria).members.count == 3)
        }
    }

    @Test func `A user who declined isn't admitted by another addition once the group is open`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(.consent, by: maria).groupID
            let id = try await service.add(phone(1), to: group, by: maria).memberID
            try await service.decline(id, in: group, by: jose)
            _ = try await service.update(group, by: maria, openness: .open)
            let again = try await service.add(phone(1), to: group, by: maria)
            #expect(again.memberID == id && again.state == .pending && again.userID.isEmpty)
            #expect(try await service.groups(of: jose).groups.isEmpty)
            // By a link they may change their mind.
            let token = try await service.link(to: group, by: maria).token
            #expect(try await service.join(by: token, jose).memberID == id)
        }
    }

    /// How a member leaves a group.
    enum Exit: CaseIterable, Sendable { case leaving, removal, closing }

    /// A group of Maria's in which Ana has added José, who blocks her, and which she has left since.
    private func abandoned(
        _ service: InvitesFixture,
        _ openness: AppV1.GroupOpenness,
        _ exit: Exit
    ) async throws -> (group: String, maria: UserID, jose: UserID, id: String) {
        let (maria, ana, jose) = (someone(), someone(), someone())
        let group = try await service.group(.open, by: maria).groupID
        try await service.join([ana], to: group, by: maria)
        _ = try await service.update(group, by: maria, openness: openness)
        try await service.apply(claimed(1, by: jose))
        try await service.block(ana, by: jose)
        let id = try await service.add(phone(1), to: group, by: ana).memberID
        switch exit {
        case .leaving: try await service.leave(group, ana)
        case .removal:
            let member = try await service.memberID(of: ana, in: group, askedBy: maria)
            try await service.remove(member, from: group, by: maria)
        case .closing: try await service.close(ana)
        }
        #expect(
            try await service.count("SELECT count(*) FROM members WHERE '\(ana)' = ANY(added_by || also_added_by)") == 0
        )
        return (group, maria, jose, id)
    }

    @Test(arguments: Exit.allCases)
    func `A blocked inviter's pending place has no effect until another member adds the number`(_ exit: Exit)
        async throws
    {
        try await InvitesFixture.run { service in
            let consent = try await abandoned(service, .consent, exit)
            #expect(try await service.invitationIDs(of: consent.jose).isEmpty)
            let pending = try await service.pending(of: consent.group, askedBy: consent.maria).people
            #expect(pending.map(\.memberID) == [consent.id] && pending.map(\.addedByUserID) == [""])
            try await service.add(phone(1), to: consent.group, by: consent.maria)
            let shown = try await service.invitations(of: consent.jose).invitations
            #expect(shown.map(\.memberID) == [consent.id])
            #expect(shown.map(\.addedByUserID) == [consent.maria.description])
        }
        try await InvitesFixture.run { service in
            let confirm = try await abandoned(service, .confirm, exit)
            let people = try await service.pending(of: confirm.group, askedBy: confirm.maria).people
            #expect(people.map(\.userID) == [""] && people.map(\.mayConfirm) == [false])
            try await service.add(phone(1), to: confirm.group, by: confirm.maria)
            #expect(try await service.invitationIDs(of: confirm.jose) == [confirm.id])
            let member = try await service.confirm(confirm.id, as: confirm.jose, in: confirm.group, by: confirm.maria)
            #expect(member.userID == confirm.jose.description)
        }
        try await InvitesFixture.run { service in
            let open = try await abandoned(service, .open, exit)
            #expect(try await service.apply(released(1, by: open.jose), claimed(1, by: open.jose)) == 0)
            #expect(try await service.groups(of: open.jose).groups.isEmpty)
            let member = try await service.add(phone(1), to: open.group, by: open.maria)
            #expect(member.userID == open.jose.description)
            #expect(try await service.members(of: open.group, askedBy: open.jose).members.count == 2)
        }
        try await InvitesFixture.run { service in
            let open = try await abandoned(service, .open, exit)
            try await service.apply(released(1, by: open.jose))
            let pedro = someone()
            #expect(try await service.apply(claimed(1, by: pedro)) == 1)
            #expect(try await service.memberID(of: pedro, in: open.group, askedBy: pedro) == open.id)
        }
    }

    @Test func `If the first inviter leaves, the next one replaces them`() async throws {
        try await InvitesFixture.run { service in
            let (maria, ana, bea, jose) = (someone(), someone(), someone(), someone())
            let group = try await service.group(.open, by: maria).groupID
            try await service.join([ana, bea], to: group, by: maria)
            _ = try await service.update(group, by: maria, openness: .consent)
            try await service.apply(claimed(1, by: jose))
            for inviter in [ana, bea] {
                try await service.block(inviter, by: jose)
                try await service.add(phone(1), to: group, by: inviter)
            }
            try await service.leave(group, ana)
            #expect(try await service.invitations(of: jose).invitations.isEmpty)
            let pending = try await service.pending(of: group, askedBy: maria).people
            #expect(pending.map(\.addedByUserID) == [bea.description])
            try await service.leave(group, bea)
            #expect(try await service.invitations(of: jose).invitations.isEmpty)
            try await service.unblock(bea, by: jose)
            #expect(try await service.invitations(of: jose).invitations.isEmpty)
        }
    }

    @Test func `A user who declines afterwards also declines later inviters`() async throws {
        try await InvitesFixture.run { service in
            let (group, maria, jose, id) = try await abandoned(service, .consent, .leaving)
            try await service.add(phone(1), to: group, by: maria)
            try await service.decline(id, in: group, by: jose)
            let token = try await service.link(to: group, by: maria).token
            let ben = someone()
            try await service.join(by: token, ben)
            try await service.add(phone(1), to: group, by: ben)
            #expect(try await service.invitations(of: jose).invitations.isEmpty)
        }
    }

    @Test func `A user who declined by one number can still join by another`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose))
            try await service.apply(claimed(2, by: jose))
            let group = try await service.group(.consent, by: maria).groupID
            let declined = try await service.add(phone(1), to: group, by: maria).memberID
            try await service.decline(declined, in: group, by: jose)
            _ = try await service.update(group, by: maria, openness: .open)
            // This number was not declined, and its place here could never be taken up otherwise.
            let member = try await service.add(phone(2), to: group, by: maria)
            #expect(member.state == .member && member.userID == jose.description)
            #expect(try await service.groups(of: jose).groups.count == 1)
            #expect(try await service.add(phone(1), to: group, by: maria).memberID == member.memberID)
        }
    }
}
