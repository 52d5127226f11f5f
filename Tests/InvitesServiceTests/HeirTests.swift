import API
import Models
import Postgres
import ServiceModels
import Testing

@testable import InvitesService

/// To whom a group goes when its owner is gone.
@Suite(.timeLimit(.minutes(5))) struct HeirTests {
    /// Where an unproven member has been for longest, then one in doubt, then one without doubt.
    private static func scene(_ service: InvitesFixture, by owner: UserID) async throws
        -> (group: String, typist: UserID, doubted: UserID, ana: UserID)
    {
        let (typist, doubted, ana) = (someone(), someone(), someone())
        let group = try await service.group(by: owner)
        try await service.apply(claimed(1, by: typist, isProven: false))
        try await service.add(phone(1), to: group, by: owner)
        try await service.join([doubted, ana], to: group, by: owner)
        try await service.doubt(service.memberID(of: doubted, in: group, askedBy: owner))
        return (group, typist, doubted, ana)
    }

    @Test func `A group goes to a member without doubt, then to one in doubt, and last to one by an unproven number`()
        async throws
    {
        try await InvitesFixture.run { service in
            let maria = someone()
            let (group, typist, doubted, ana) = try await Self.scene(service, by: maria)
            for (leaver, heir) in [(maria, ana), (ana, doubted), (doubted, typist)] {
                try await service.close(leaver)
                #expect(try await service.group(group, askedBy: typist).ownerUserID == heir.description)
            }
        }
    }

    @Test func `An owner by a handover leaves the group to a member without doubt`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let (group, _, _, ana) = try await Self.scene(service, by: maria)
            try await service.join([jose], to: group, by: maria, first: 700)
            let heir = try await service.memberID(of: jose, in: group, askedBy: maria)
            try await service.setRole(.admin, of: heir, in: group, by: maria)
            try await service.handOver(group, to: heir, by: maria)
            try await service.leave(group, maria)
            try await service.leave(group, jose)
            #expect(try await service.group(group, askedBy: ana).ownerUserID == ana.description)
        }
    }

    @Test func `A group passes over a member whose account is closed, though it hasn't forgotten them yet`()
        async throws
    {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.join([jose, ana], to: group, by: maria)
            let josesID = try await service.memberID(of: jose, in: group, askedBy: maria)
            try await service.setRole(.admin, of: josesID, in: group, by: maria)
            try await service.closeWithoutForgetting(jose)
            #expect(await outcome { try await service.handOver(group, to: josesID, by: maria) } == "MEMBER_NOT_FOUND")
            try await service.close(maria)
            #expect(try await service.group(group, askedBy: ana).ownerUserID == ana.description)
        }
    }

    @Test func `If all others' accounts are closed a group is deleted with its owner, by leaving or by a closing`()
        async throws
    {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let groups = [try await service.group(by: maria), try await service.group(by: maria)]
            for group in groups { try await service.join([jose], to: group, by: maria) }
            try await service.closeWithoutForgetting(jose)
            try await service.leave(groups[0], maria)
            #expect(try await service.count("SELECT count(*) FROM groups") == 1)
            try await service.close(maria)
            service.clock.advance(milliseconds: AccountStore.leaseMilliseconds)
            await service.parts.closings.round()
            #expect(try await service.count("SELECT count(*) FROM groups") == 0)
        }
    }

    @Test func `A member whose account is closed changes nothing more, though no group has forgotten them yet`()
        async throws
    {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(.confirm, by: maria).groupID
            let token = try await service.link(to: group, by: maria).token
            for user in [jose, ana] { _ = try await service.join(by: token, user) }
            for person in try await service.pending(of: group, askedBy: maria).people
            where person.userID == jose.description {
                try await service.confirm(person.memberID, as: jose, in: group, by: maria)
            }
            let request = try #require(try await service.pending(of: group, askedBy: maria).people.first).memberID
            let josesID = try await service.memberID(of: jose, in: group, askedBy: maria)
            try await service.closeWithoutForgetting(maria)
            #expect(try await service.group(group, askedBy: jose).ownerUserID == maria.description, "not yet")
            let refused = "NOT_A_MEMBER"
            #expect(await outcome { try await service.add(phone(1), to: group, by: maria) } == refused)
            #expect(await outcome { try await service.add([phone(1)], to: group, by: maria) } == refused)
            #expect(await outcome { try await service.link(to: group, by: maria) } == refused)
            #expect(await outcome { try await service.confirm(request, as: ana, in: group, by: maria) } == refused)
            #expect(await outcome { try await service.update(group, by: maria, name: "Hers") } == refused)
            #expect(await outcome { try await service.update(group, by: maria, openness: .open) } == refused)
            #expect(await outcome { try await service.setRole(.admin, of: josesID, in: group, by: maria) } == refused)
            #expect(await outcome { try await service.handOver(group, to: josesID, by: maria) } == refused)
            #expect(await outcome { try await service.remove(josesID, from: group, by: maria) } == refused)
            #expect(await outcome { try await service.delete(group, by: maria) } == refused)
            #expect(try await service.count("SELECT count(*) FROM members WHERE user_id IS NOT NULL") == 2)
            #expect(try await service.count("SELECT count(*) FROM phones") == 0, "nothing was written")
        }
    }
}

extension InvitesFixture {
    /// Closes an account, as a crash right after it leaves it.
    fileprivate func closeWithoutForgetting(_ user: UserID) async throws {
        try await parts.methods.accounts.close(user, clock: clock.clock, deadline: nil)
    }
}
