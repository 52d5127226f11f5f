import API
import Models
import Postgres
import RPC
import ServiceModels
import Testing

@testable import InvitesService

/// In groups with confirmation a member of the group confirms who a person is.
@Suite(.serialized) struct ConfirmationTests {
    @Test func `A person waits until a member who may confirms them`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.join([ana], to: group, by: maria)
            _ = try await service.update(group, by: maria, openness: .confirm)
            // Maria adds one person, and Ana, who is a plain member, another.
            let byMaria = try await service.add(phone(1), named: "Joey", to: group, by: maria).memberID
            let byAna = try await service.add(phone(2), to: group, by: ana).memberID
            #expect(try await service.apply(claimed(1, by: jose)) == 0)
            let eva = someone()
            try await service.apply(claimed(2, by: eva))

            let shown = try await service.invitations(of: jose).invitations
            #expect(shown.map(\.state) == [.confirmation] && shown.map(\.groupName) == ["Hikers"])
            #expect(await outcome { try await service.members(of: group, askedBy: jose) } == "NOT_A_MEMBER")
            #expect(await outcome { try await service.pending(of: group, askedBy: jose) } == "NOT_A_MEMBER")

            let seenByMaria = try await service.pending(of: group, askedBy: maria).people
            #expect(seenByMaria.map(\.memberID) == [byMaria, byAna])
            #expect(
                seenByMaria.map(\.userID) == [jose, eva].map(\.description) && seenByMaria.allSatisfy(\.mayConfirm)
            )
            #expect(seenByMaria.map(\.addedByUserID) == [maria, ana].map(\.description))
            let seenByAna = try await service.pending(of: group, askedBy: ana).people
            #expect(seenByAna.map(\.userID) == ["", eva.description] && seenByAna.map(\.mayConfirm) == [false, true])

            #expect(
                await outcome { try await service.confirm(byMaria, as: jose, in: group, by: ana) }
                    == "ROLE_INSUFFICIENT"
            )
            let member = try await service.confirm(byMaria, as: jose, in: group, by: maria)
            #expect(member.memberID == byMaria && member.userID == jose.description && member.displayName == "Joey")
            #expect(try await service.confirm(byMaria, as: jose, in: group, by: maria) == member, "again")
            #expect(try await service.confirm(byAna, as: eva, in: group, by: ana).userID == eva.description)
            #expect(try await service.pending(of: group, askedBy: maria).people.isEmpty)
            #expect(
                try await service.count(
                    "SELECT count(*) FROM members WHERE confirmed_by IN ('\(maria)', '\(ana)') AND linked_at IS NOT NULL"
                ) == 2
            )
        }
    }

    @Test func `A number that changed hands confirms no other user`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(.confirm, by: maria).groupID
            let id = try await service.add(phone(1), to: group, by: maria).memberID
            #expect(await outcome { try await service.confirm(id, as: jose, in: group, by: maria) } == "PERSON_CHANGED")
            try await service.apply(claimed(1, by: jose))
            #expect(try await service.pending(of: group, askedBy: maria).people.map(\.userID) == [jose.description])
            try await service.apply(released(1, by: jose), claimed(1, by: ana))
            #expect(await outcome { try await service.confirm(id, as: jose, in: group, by: maria) } == "PERSON_CHANGED")
            #expect(try await service.confirm(id, as: ana, in: group, by: maria).userID == ana.description)
            #expect(await outcome { try await service.confirm(id, as: jose, in: group, by: maria) } == "PERSON_CHANGED")
            let nobody = EventID.of(9).description
            #expect(
                await outcome { try await service.confirm(nobody, as: jose, in: group, by: maria) }
                    == "MEMBER_NOT_FOUND"
            )
            #expect(await outcome { try await service.confirm(id, as: jose, in: group, by: jose) } == "NOT_A_MEMBER")
        }
    }

    @Test func `A user who declined, blocks the inviter or was deleted isn't shown to confirming members`()
        async throws
    {
        try await InvitesFixture.run { service in
            let maria = someone()
            let people = [someone(), someone(), someone()]
            let group = try await service.group(.confirm, by: maria).groupID
            var ids: [String] = []
            for (number, person) in people.enumerated() {
                ids.append(try await service.add(phone(number), to: group, by: maria).memberID)
                try await service.apply(claimed(number, by: person))
            }
            try await service.decline(ids[0], in: group, by: people[0])
            try await service.block(maria, by: people[1])
            try await service.close(people[2])
            let waiting = try await service.pending(of: group, askedBy: maria).people
            #expect(waiting.map(\.memberID) == ids)
            #expect(waiting.allSatisfy { $0.userID.isEmpty && !$0.mayConfirm })
            for (id, person) in zip(ids, people) {
                #expect(
                    await outcome { try await service.confirm(id, as: person, in: group, by: maria) }
                        == "PERSON_CHANGED"
                )
            }
            #expect(try await service.invitationIDs(of: people[0]).isEmpty)
            #expect(try await service.invitationIDs(of: people[1]).isEmpty)
            try await service.unblock(maria, by: people[1])
            #expect(try await service.invitationIDs(of: people[1]) == [ids[1]])
            #expect(try await service.members(of: group, askedBy: maria).members.count == 4)
        }
    }

    @Test func `A doubtful member is confirmed by an authorized member, and the extra place of the number is removed`()
        async throws
    {
        try await InvitesFixture.run { service in
            let (maria, jose, ana, eva) = (someone(), someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.join([jose, ana, eva], to: group, by: maria, first: 1)
            let id = try await service.memberID(of: jose, in: group, askedBy: maria)
            try await service.setRole(.admin, of: id, in: group, by: maria)
            try await service.doubt(id)
            let people = try await service.pending(of: group, askedBy: maria).people
            #expect(people.map(\.state).sorted { $0.rawValue < $1.rawValue } == [.number, .doubt])
            let doubt = try #require(people.first { $0.state == .doubt })
            #expect(doubt.memberID == id && doubt.userID == jose.description && doubt.mayConfirm)
            #expect(doubt.phoneNumber == e164(1) && doubt.since.milliseconds > 0)
            // Others see the doubt and may not decide it. He may not decide about himself either, though he is an admin.
            for (other, reason) in [(ana, "ROLE_INSUFFICIENT"), (jose, "ROLE_INSUFFICIENT")] {
                let seen = try await service.pending(of: group, askedBy: other).people.filter { $0.state == .doubt }
                #expect(seen.map(\.mayConfirm) == [false] && seen.map(\.userID) == [jose.description])
                #expect(await outcome { try await service.confirm(id, as: jose, in: group, by: other) } == reason)
            }
            #expect(await outcome { try await service.confirm(id, as: ana, in: group, by: maria) } == "PERSON_CHANGED")
            let kept = try await service.confirm(id, as: jose, in: group, by: maria)
            #expect(!kept.isUnconfirmed && kept.role == .admin && kept.userID == jose.description)
            #expect(try await service.pending(of: group, askedBy: maria).people.isEmpty)
            #expect(try await service.members(of: group, askedBy: maria).members.count == 4)
            #expect(
                try await service.count(
                    "SELECT count(*) FROM members WHERE confirmed_by = '\(maria)' AND unconfirmed_at IS NULL"
                ) == 1
            )
        }
    }

    @Test func `A person who waits under two numbers is confirmed once`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose), claimed(2, by: jose))
            let group = try await service.group(.confirm, by: maria).groupID
            let first = try await service.add(phone(1), to: group, by: maria).memberID
            let second = try await service.add(phone(2), to: group, by: maria).memberID
            #expect(try await service.confirm(second, as: jose, in: group, by: maria).memberID == second)
            #expect(try await service.members(of: group, askedBy: jose).members.count == 2)
            #expect(try await service.confirm(first, as: jose, in: group, by: maria).memberID == second, "a member")
        }
    }

    @Test func `Only groups with confirmation have people to confirm`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            for openness in [AppV1.GroupOpenness.open, .consent] {
                let group = try await service.group(openness, by: maria).groupID
                let id = try await service.add(phone(1), to: group, by: maria).memberID
                #expect(
                    await outcome { try await service.confirm(id, as: jose, in: group, by: maria) }
                        == "NOTHING_TO_CONFIRM"
                )
                #expect(await outcome { try await service.pending(of: group, askedBy: jose) } == "NOT_A_MEMBER")
            }
        }
    }

    @Test func `The people whom a group waits for come in pages, oldest first`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await service.group(.confirm, by: maria).groupID
            var ids: [String] = []
            for number in 0..<5 { ids.append(try await service.add(phone(number), to: group, by: maria).memberID) }
            let token = try await service.link(to: group, by: maria).token
            ids.append(try await service.join(by: token, someone()).memberID)
            var (found, page): ([String], String) = ([], "")
            repeat {
                let answer = try await service.pending(of: group, askedBy: maria, size: 2, token: page)
                found += answer.people.map(\.memberID)
                page = answer.nextPageToken
            } while !page.isEmpty
            #expect(found == ids)
        }
    }

    @Test func `Naming a user unrelated to the group locks nothing of that user`() async throws {
        try await InvitesFixture.run { service in
            let (maria, stranger) = (someone(), someone())
            try await service.apply(claimed(9, by: stranger))
            let (group, other) = (
                try await service.group(.confirm, by: maria).groupID, try await service.group(by: maria)
            )
            let waiting = try await service.add(phone(1), to: group, by: maria).memberID
            let unknown = try await service.add(phone(1), to: other, by: maria).memberID
            let asking = try await service.join(by: service.link(to: group, by: maria).token, someone()).memberID
            try await service.database.withTransaction { transaction in
                try await transaction.query("SELECT FROM phones WHERE user_id = \(stranger.uuid) FOR UPDATE")
                for (id, answer) in [
                    (waiting, "PERSON_CHANGED"), (asking, "PERSON_CHANGED"), (unknown, "MEMBER_NOT_FOUND"),
                ] {
                    #expect(
                        await outcome { try await service.confirm(id, as: stranger, in: group, by: maria) } == answer
                    )
                }
            }
        }
    }
}
