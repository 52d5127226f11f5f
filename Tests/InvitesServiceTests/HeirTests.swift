import API
import Models
import Postgres
import ServiceModels
import Testing

@testable import InvitesService

/// To whom a group goes when its owner is gone.
@Suite(.timeLimit(.minutes(3))) struct HeirTests {
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

    @Test func `Who leaves a group that was handed to them leaves it to a member without doubt`() async throws {
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
}
