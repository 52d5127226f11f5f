import API
import Models
import Postgres
import RPC
import ServiceModels
import TestDatabases
import Testing

@testable import InvitesService

/// In groups with consent the invited user decides, and until then nobody learns whether a number is a user's.
@Suite(.serialized) struct ConsentTests {
    @Test func `The invited user sees the group's name and the inviter, and accepts`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(.consent, by: maria).groupID
            let invited = try await service.add(phone(1), named: "Joey", to: group, by: maria)
            #expect(try await service.invitations(of: jose).invitations.isEmpty, "he doesn't have the number yet")
            #expect(try await service.apply(claimed(1, by: jose)) == 0)
            let shown = try await service.invitations(of: jose).invitations
            #expect(shown.count == 1)
            let invitation = try #require(shown.first)
            #expect(invitation.memberID == invited.memberID && invitation.groupID == group)
            #expect(invitation.groupName == "Hikers" && invitation.state == .consent && !invitation.isRequest)
            #expect(invitation.addedByUserID == maria.description && invitation.since == invited.addedAt)
            #expect(!invitation.hasExpiresAt)
            #expect(await outcome { try await service.members(of: group, askedBy: jose) } == "NOT_A_MEMBER")

            let member = try await service.accept(invited.memberID, in: group, by: jose)
            #expect(member.memberID == invited.memberID && member.userID == jose.description)
            #expect(member.state == .member && member.role == .member && member.displayName == "Joey")
            #expect(try await service.invitations(of: jose).invitations.isEmpty)
            #expect(try await service.members(of: group, askedBy: jose).members.count == 2)
            // Accepts again, and declines afterwards.
            #expect(try await service.accept(invited.memberID, in: group, by: jose) == member)
            #expect(
                await outcome { try await service.decline(invited.memberID, in: group, by: jose) }
                    == "INVITATION_NOT_FOUND"
            )
        }
    }

    @Test func `The inviter can't see whether a number is a user's`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: jose), claimed(2, by: ana))
            let group = try await service.group(.consent, by: maria).groupID
            // Numbers of a user, of a user who declines, of a user who blocks her, and of nobody.
            var seen: [AppV1.Member] = []
            for number in 1...4 { seen.append(try await service.add(phone(number), to: group, by: maria)) }
            try await service.decline(seen[0].memberID, in: group, by: jose)
            try await service.block(maria, by: ana)
            try await service.apply(claimed(3, by: someone()))
            for member in seen {
                #expect(member.state == .invited && member.userID.isEmpty && member.role == .unspecified)
            }
            #expect(try await service.members(of: group, askedBy: maria).members.dropFirst() == seen[...])
            let waiting = try await service.pending(of: group, askedBy: maria).people
            #expect(waiting.map(\.memberID) == seen.map(\.memberID))
            for person in waiting {
                #expect(person.state == .number && person.userID.isEmpty && !person.mayConfirm)
            }
            for member in seen {
                let again = try await service.add(member.phoneNumber, to: group, by: maria)
                #expect(again == member)
                #expect(
                    await outcome { try await service.confirm(member.memberID, as: jose, in: group, by: maria) }
                        == "NOTHING_TO_CONFIRM"
                )
            }
        }
    }

    @Test func `A declined invitation isn't shown again, and may still be accepted`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(.consent, by: maria).groupID
            let id = try await service.add(phone(1), to: group, by: maria).memberID
            for _ in 0..<2 { try await service.decline(id, in: group, by: jose) }
            #expect(try await service.invitationIDs(of: jose).isEmpty)
            // The number's next user was not asked yet.
            try await service.apply(released(1, by: jose), claimed(1, by: ana))
            #expect(try await service.invitationIDs(of: ana) == [id])
            #expect(await outcome { try await service.accept(id, in: group, by: jose) } == "INVITATION_NOT_FOUND")
            try await service.apply(released(1, by: ana), claimed(1, by: jose))
            #expect(try await service.invitationIDs(of: jose).isEmpty, "he declined before")
            #expect(try await service.accept(id, in: group, by: jose).userID == jose.description)
            #expect(try await service.count("SELECT count(*) FROM members WHERE declined_by IS NOT NULL") == 0)
        }
    }

    @Test func `Nobody answers another user's invitation, or one that isn't for the user to decide`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let consent = try await service.group(.consent, by: maria).groupID
            let confirm = try await service.group(.confirm, by: maria).groupID
            let (id, other) = (
                try await service.add(phone(1), to: consent, by: maria).memberID,
                try await service.add(phone(1), to: confirm, by: maria).memberID
            )
            for stranger in [ana, maria] {
                let accepted = await outcome { try await service.accept(id, in: consent, by: stranger) }
                // A member stays a member, whatever they accept.
                #expect(accepted == (stranger == maria ? "done" : "INVITATION_NOT_FOUND"))
                #expect(
                    await outcome { try await service.decline(id, in: consent, by: stranger) } == "INVITATION_NOT_FOUND"
                )
            }
            #expect(await outcome { try await service.accept(id, in: confirm, by: jose) } == "INVITATION_NOT_FOUND")
            #expect(await outcome { try await service.accept("x", in: consent, by: jose) } == "INVITATION_NOT_FOUND")
            #expect(await outcome { try await service.accept(other, in: confirm, by: jose) } == "CONFIRMATION_NEEDED")
            // An invitation that needs the group's confirmation may be declined all the same.
            try await service.decline(other, in: confirm, by: jose)
            #expect(try await service.invitationIDs(of: jose) == [id])
        }
    }

    @Test func `A user who is invited by two numbers is a member once`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose), claimed(2, by: jose))
            let group = try await service.group(.consent, by: maria).groupID
            let first = try await service.add(phone(1), to: group, by: maria).memberID
            let second = try await service.add(phone(2), to: group, by: maria).memberID
            #expect(try await service.invitationIDs(of: jose) == [second, first])
            #expect(try await service.accept(second, in: group, by: jose).memberID == second)
            #expect(try await service.accept(first, in: group, by: jose).memberID == second, "he is a member already")
            #expect(try await service.members(of: group, askedBy: maria).members.map(\.memberID).suffix(1) == [second])
            #expect(try await service.members(of: group, askedBy: maria).members.count == 2)
        }
    }

    @Test func `Invitations come in pages, newest first`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose))
            var ids: [String] = []
            for _ in 0..<5 {
                let group = try await service.group(.consent, by: maria).groupID
                ids.insert(try await service.add(phone(1), to: group, by: maria).memberID, at: 0)
            }
            var (found, token): ([String], String) = ([], "")
            repeat {
                let page = try await service.invitations(of: jose, size: 2, token: token)
                found += page.invitations.map(\.memberID)
                token = page.nextPageToken
            } while !token.isEmpty
            #expect(found == ids)
            let foreign = try await service.groups(of: maria, size: 1).nextPageToken
            #expect(await outcome { try await service.invitations(of: jose, token: foreign) } == "INVALID_CURSOR")
        }
    }

    @Test func `A held or closed account changes nothing`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(.consent, by: maria).groupID
            let id = try await service.add(phone(1), to: group, by: maria).memberID
            #expect(try await service.hold(jose, EventID.of(1)))
            #expect(await outcome { try await service.accept(id, in: group, by: jose) } == "ACCOUNT_HELD")
            try await service.reopen(jose, EventID.of(1))
            try await service.close(jose)
            #expect(await outcome { try await service.accept(id, in: group, by: jose) } == "INVITATION_NOT_FOUND")
            #expect(try await service.members(of: group, askedBy: maria).members.last?.state == .invited)
        }
    }

    /// While a confirmation or an opening is in progress.
    @Test func `A user who becomes a member at the same moment can't decline any more`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(.confirm, by: maria).groupID
            let id = try await service.add(phone(1), to: group, by: maria).memberID
            let answer = try await service.database.withTransaction { transaction in
                try await transaction.query("SELECT FROM groups FOR UPDATE")
                // What a confirmation has read by now.
                let declining = Task { await outcome { try await service.decline(id, in: group, by: jose) } }
                try await service.database.waitForLockWaits()
                try await transaction.execute(
                    "UPDATE members SET user_id = \(jose.uuid), linked_at = now() WHERE user_id IS NULL"
                )
                return declining
            }.value
            #expect(answer == "INVITATION_NOT_FOUND")
            #expect(try await service.groups(of: jose).groups.map(\.groupID) == [group])
        }
    }

    @Test func `A member can't accept away the place that waits for another of their numbers`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(.consent, by: maria).groupID
            let id = try await service.add(phone(1), to: group, by: maria).memberID
            _ = try await service.accept(id, in: group, by: jose)
            let awaited = try await service.add(phone(2), to: group, by: maria).memberID
            try await service.apply(claimed(2, by: jose))
            for any in [awaited, MemberID(high: 7, low: 7).description] {
                #expect(try await service.accept(any, in: group, by: jose).memberID == id)
            }
            // The number's real user takes the place.
            try await service.apply(released(2, by: jose), claimed(2, by: ana))
            #expect(try await service.accept(awaited, in: group, by: ana).userID == ana.description)
        }
    }
}
