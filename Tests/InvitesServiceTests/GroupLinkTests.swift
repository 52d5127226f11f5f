import API
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import Testing

@testable import InvitesService

/// Links by which people join groups without a number.
@Suite(.serialized) struct GroupLinkTests {
    @Test func `A user with a link sees the group's name and joins`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: maria)
            let made = try await service.link(to: group, by: maria)
            #expect(made.token.utf8.count == 43 && made.link.usesMax == 0 && made.link.uses == 0)
            #expect(made.link.expiresAt.milliseconds - made.link.createdAt.milliseconds == 7 * 86_400_000)
            #expect(made.link.createdByUserID == maria.description && made.link.groupID == group)

            let preview = try await service.preview(made.token, by: jose)
            #expect(preview.groupID == group && preview.groupName == "Hikers" && preview.openness == .open)
            #expect(!preview.isMember && preview.expiresAt == made.link.expiresAt)
            #expect(try await service.groups(of: jose).groups.isEmpty, "a preview is not joining")

            let joined = try await service.join(by: made.token, jose)
            #expect(joined.groupID == group && joined.groupName == "Hikers" && joined.state == .member)
            #expect(try await service.join(by: made.token, jose) == joined, "again")
            #expect(try await service.preview(made.token, by: jose).isMember)
            let member = try #require(try await service.members(of: group, askedBy: jose).members.last)
            #expect(member.memberID == joined.memberID && member.userID == jose.description && member.role == .member)
            #expect(member.phoneNumber.isEmpty && member.displayName.isEmpty)
            #expect(try await service.links(of: group, askedBy: maria).map(\.uses) == [1])
            #expect(
                try await service.count("SELECT count(*) FROM group_links WHERE secret_hash IS NOT NULL") == 1
            )
        }
    }

    @Test func `In a group with confirmation a link makes a request`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(.confirm, by: maria).groupID
            let token = try await service.link(to: group, by: maria).token
            let asked = try await service.join(by: token, jose)
            #expect(asked.state == .pending && asked.groupName == "Hikers")
            #expect(try await service.join(by: token, jose) == asked, "again")
            #expect(await outcome { try await service.members(of: group, askedBy: jose) } == "NOT_A_MEMBER")
            let waiting = try await service.invitations(of: jose).invitations
            #expect(waiting.map(\.memberID) == [asked.memberID] && waiting.map(\.isRequest) == [true])
            #expect(waiting.map(\.state) == [.confirmation] && waiting.map(\.addedByUserID) == [""])
            let people = try await service.pending(of: group, askedBy: maria).people
            #expect(people.map(\.state) == [.request] && people.map(\.userID) == [jose.description])
            #expect(try await service.members(of: group, askedBy: maria).members.count == 1)

            #expect(
                await outcome { try await service.confirm(asked.memberID, as: ana, in: group, by: maria) }
                    == "PERSON_CHANGED"
            )
            let member = try await service.confirm(asked.memberID, as: jose, in: group, by: maria)
            #expect(member.memberID == asked.memberID && member.userID == jose.description)
            #expect(try await service.confirm(asked.memberID, as: jose, in: group, by: maria) == member)
            #expect(try await service.invitations(of: jose).invitations.isEmpty)
            // A plain member can neither see nor decide requests.
            let second = try await service.join(by: token, ana).memberID
            #expect(try await service.pending(of: group, askedBy: jose).people.isEmpty)
            #expect(
                await outcome { try await service.confirm(second, as: ana, in: group, by: jose) } == "ROLE_INSUFFICIENT"
            )
            #expect(await outcome { try await service.remove(second, from: group, by: jose) } == "ROLE_INSUFFICIENT")
            try await service.remove(second, from: group, by: maria)
            #expect(try await service.invitations(of: ana).invitations.isEmpty)
            #expect(await outcome { try await service.join(by: token, ana) } == "LINK_USED", "she asked by it before")
        }
    }

    @Test func `A request can be taken back, and doesn't take another user's place`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(.confirm, by: maria).groupID
            let token = try await service.link(to: group, by: maria).token
            let id = try await service.join(by: token, jose).memberID
            #expect(await outcome { try await service.decline(id, in: group, by: ana) } == "INVITATION_NOT_FOUND")
            try await service.decline(id, in: group, by: jose)
            #expect(try await service.pending(of: group, askedBy: maria).people.isEmpty)
            #expect(
                await outcome { try await service.confirm(id, as: jose, in: group, by: maria) } == "MEMBER_NOT_FOUND"
            )
        }
    }

    @Test func `A group that ends confirmation admits everybody who asked`() async throws {
        try await InvitesFixture.run(groupMembersMax: 4) { service in
            for openness in [AppV1.GroupOpenness.open, .consent] {
                let maria = someone()
                let group = try await service.group(.confirm, by: maria).groupID
                let token = try await service.link(to: group, by: maria).token
                let people = [someone(), someone(), someone()]
                for person in people { try await service.join(by: token, person) }
                #expect(await outcome { try await service.join(by: token, someone()) } == "GROUP_FULL")
                let number = openness == .open ? 1 : 2
                try await service.add(phone(number), to: group, by: maria)
                _ = try await service.update(group, by: maria, openness: openness)
                // A person added by number meanwhile has the place of the last user who asked.
                let members = try await service.members(of: group, askedBy: maria).members
                #expect(
                    Set(members.map(\.userID)) == Set(["", maria.description] + people.prefix(2).map(\.description))
                )
                #expect(members.count == 4)
                #expect(try await service.invitations(of: people[2]).invitations.count == 1)
                #expect(try await service.invitations(of: people[0]).invitations.isEmpty)
            }
        }
    }

    @Test func `A single-use link is used by one user, whatever happens to the request`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            let token = try await service.link(to: group, by: maria, uses: 1).token
            // A member uses up nothing.
            #expect(try await service.join(by: token, maria).state == .member)
            try await service.join(by: token, jose)
            #expect(await outcome { try await service.join(by: token, ana) } == "LINK_OVER")
            #expect(await outcome { try await service.preview(token, by: ana) } == "LINK_OVER")
            try await service.leave(group, jose)
            #expect(await outcome { try await service.join(by: token, jose) } == "LINK_USED")
            #expect(try await service.links(of: group, askedBy: maria).isEmpty, "the link is used up")
        }
    }

    @Test func `A removed member's links stop working, for the member and for everybody else`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.join([jose, ana], to: group, by: maria)
            let member = try await service.memberID(of: jose, in: group, askedBy: maria)
            try await service.setRole(.admin, of: member, in: group, by: maria)
            let theirs = try await service.link(to: group, by: jose, seconds: 7_776_000).token
            let others = try await service.link(to: group, by: maria).token
            try await service.remove(member, from: group, by: maria)
            for user in [jose, someone()] {
                #expect(await outcome { try await service.join(by: theirs, user) } != "done")
                #expect(await outcome { try await service.preview(theirs, by: user) } == "LINK_OVER")
            }
            #expect(try await service.links(of: group, askedBy: maria).count == 1, "the others' links stay")
            #expect(try await service.join(by: others, jose).state == .member, "the owner's links decide themselves")
            #expect(await outcome { try await service.members(of: group, askedBy: jose) } == "done")
        }
    }

    @Test func `A member who left can't return by their own link, which still works for others`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.join([jose], to: group, by: maria)
            let member = try await service.memberID(of: jose, in: group, askedBy: maria)
            try await service.setRole(.admin, of: member, in: group, by: maria)
            let token = try await service.link(to: group, by: jose).token
            try await service.setRole(.member, of: member, in: group, by: maria)
            try await service.leave(group, jose)
            #expect(await outcome { try await service.join(by: token, jose) } == "LINK_USED")
            #expect(try await service.join(by: token, ana).state == .member)
            #expect(try await service.links(of: group, askedBy: maria).map(\.uses) == [1], "its creator used none")
        }
    }

    @Test func `A proof that takes a place also takes its former user's links`() async throws {
        try await InvitesFixture.run { service in
            let (maria, squatter, ana) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.apply(claimed(1, by: squatter, isProven: false))
            let member = try await service.add(phone(1), to: group, by: maria).memberID
            try await service.setRole(.admin, of: member, in: group, by: maria)
            let token = try await service.link(to: group, by: squatter).token
            try await service.setRole(.member, of: member, in: group, by: maria)
            var proof = claimed(1, by: ana)
            proof.claimed.takenFromUserID = squatter.description
            try await service.apply(proof)
            #expect(try await service.memberID(of: ana, in: group, askedBy: maria) == member)
            for user in [squatter, someone()] {
                #expect(await outcome { try await service.join(by: token, user) } != "done")
            }
        }
    }

    @Test func `A full group uses up nothing`() async throws {
        try await InvitesFixture.run(groupMembersMax: 2) { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            let token = try await service.link(to: group, by: maria, uses: 2).token
            try await service.join(by: token, jose)
            #expect(await outcome { try await service.join(by: token, ana) } == "GROUP_FULL")
            #expect(try await service.links(of: group, askedBy: maria).map(\.uses) == [1])
            try await service.leave(group, jose)
            #expect(try await service.join(by: token, ana).state == .member)
        }
    }

    @Test func `As many of many concurrent users join as the link has uses`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            let token = try await service.link(to: group, by: maria, uses: 5).token
            let outcomes = await withTaskGroup(of: String.self) { tasks in
                for _ in 0..<20 { tasks.addTask { await outcome { try await service.join(by: token, someone()) } } }
                return await tasks.reduce(into: [:] as [String: Int]) { $0[$1, default: 0] += 1 }
            }
            #expect(outcomes == ["done": 5, "LINK_OVER": 15])
            #expect(try await service.members(of: group, askedBy: maria).members.count == 6)
        }
    }

    @Test func `A link ends at its expiry, by revocation, and with its group`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: maria)
            let short = try await service.link(to: group, by: maria, seconds: 60)
            let revoked = try await service.link(to: group, by: maria)
            #expect(
                try await service.links(of: group, askedBy: maria).map(\.linkID) == [
                    revoked.link.linkID, short.link.linkID,
                ]
            )
            for _ in 0..<2 { try await service.revoke(revoked.link.linkID, of: group, by: maria) }
            #expect(await outcome { try await service.join(by: revoked.token, jose) } == "LINK_OVER")
            service.clock.advance(milliseconds: 60_000)
            #expect(await outcome { try await service.join(by: short.token, jose) } == "LINK_OVER")
            #expect(try await service.links(of: group, askedBy: maria).isEmpty)
            #expect(try await service.count("SELECT count(*) FROM quotas WHERE kind = 'link tries'") == 0)
            let other = try await service.group(by: maria)
            let token = try await service.link(to: other, by: maria).token
            try await service.delete(other, by: maria)
            #expect(await outcome { try await service.join(by: token, jose) } == "LINK_INVALID")
            service.clock.advance(milliseconds: GroupLinkStore.keptMilliseconds)
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM group_links WHERE revoked_at IS NULL") == 0)
            service.clock.advance(milliseconds: 7 * 86_400_000)
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM group_links") == 0)
        }
    }

    @Test func `Only admins and the owner manage links, and only their own group's`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.join([jose], to: group, by: maria)
            let link = try await service.link(to: group, by: maria)
            for (user, reason) in [(jose, "ROLE_INSUFFICIENT"), (ana, "NOT_A_MEMBER")] {
                #expect(await outcome { try await service.link(to: group, by: user) } == reason)
                #expect(await outcome { try await service.links(of: group, askedBy: user) } == reason)
                #expect(await outcome { try await service.revoke(link.link.linkID, of: group, by: user) } == reason)
            }
            let hers = try await service.group(by: ana)
            try await service.revoke(link.link.linkID, of: hers, by: ana)
            #expect(try await service.join(by: link.token, ana).state == .member, "she could not revoke it")
            let id = try await service.memberID(of: jose, in: group, askedBy: maria)
            try await service.setRole(.admin, of: id, in: group, by: maria)
            #expect(try await service.links(of: group, askedBy: jose).count == 1)
            // The link's creator may leave: the link belongs to the group.
            let his = try await service.link(to: group, by: jose).token
            try await service.leave(group, jose)
            #expect(
                try await service.links(of: group, askedBy: maria).map(\.createdByUserID) == ["", maria.description]
            )
            #expect(try await service.join(by: his, someone()).state == .member)
            #expect(
                try await service.count(
                    "SELECT count(*) FROM members WHERE '\(jose)' IN (added_by::text, confirmed_by::text)"
                ) == 0
            )
        }
    }

    @Test func `A link's lifetime and number of uses are limited`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            for (seconds, uses, fields) in [
                (Int32(59), Int32(0), ["lifetime_seconds"]), (7_776_001, 0, ["lifetime_seconds"]),
                (0, 1_001, ["uses_max"]),
                (-1, -1, ["lifetime_seconds", "uses_max"]),
            ] {
                let error = try await failure {
                    try await service.link(to: group, by: maria, seconds: seconds, uses: uses)
                }
                #expect(error.code == .invalidArgument && error.fieldViolations.map(\.field) == fields)
            }
            let longest = try await service.link(to: group, by: maria, seconds: 7_776_000, uses: 1_000).link
            #expect(
                longest.usesMax == 1_000
                    && longest.expiresAt.milliseconds - longest.createdAt.milliseconds == 90 * 86_400_000
            )
        }
    }

    @Test func `Links are limited per day and per group`() async throws {
        var limits = InvitesFixture.unlimited
        limits.userLinks = .daily("links", countMax: 101)
        try await InvitesFixture.run(limits: limits) { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            for _ in 0..<100 { _ = try await service.link(to: group, by: maria) }
            #expect(await outcome { try await service.link(to: group, by: maria) } == "TOO_MANY_LINKS")
            let other = try await service.group(by: maria)
            _ = try await service.link(to: other, by: maria)
            let error = try await failure { try await service.link(to: other, by: maria) }
            #expect(error.reason == "TOO_MANY_ATTEMPTS" && error.retryAfter != nil)
        }
    }

    @Test func `Wrong tokens are counted by user and address, valid ones are not`() async throws {
        var limits = InvitesFixture.unlimited
        limits.userLinkTries = .daily("link tries", countMax: 3)
        limits.addressLinkTries = .daily("link tries", countMax: 5)
        try await InvitesFixture.run(limits: limits) { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let token = try await service.link(to: try await service.group(by: maria), by: maria).token
            // The same link with another secret, and a token of no link.
            var bytes = try #require(Base64URL.decode(token))
            bytes[31] ^= 1
            let wrong = [Base64URL.encode(bytes), Base64URL.encode([UInt8](repeating: 9, count: 32))]
            for _ in 0..<5 { _ = try await service.preview(token, by: jose, from: "203.0.113.7") }
            for number in 0..<3 {
                #expect(
                    await outcome { try await service.preview(wrong[number % 2], by: jose, from: "203.0.113.7") }
                        == "LINK_INVALID"
                )
            }
            // A malformed token doesn't count as an attempt.
            #expect(await outcome { try await service.preview("x", by: jose) } == "LINK_INVALID")
            #expect(await outcome { try await service.preview(token, by: jose) } == "TOO_MANY_ATTEMPTS")
            #expect(await outcome { try await service.join(by: token, jose) } == "TOO_MANY_ATTEMPTS")
            for _ in 0..<2 { _ = try? await service.preview(wrong[0], by: ana, from: "203.0.113.7") }
            #expect(
                await outcome { try await service.preview(token, by: maria, from: "203.0.113.7") }
                    == "TOO_MANY_ATTEMPTS"
            )
            #expect(try await service.preview(token, by: maria, from: "203.0.113.8").isMember)
            service.clock.advance(milliseconds: 86_400_000)
            #expect(try await service.join(by: token, jose).state == .member)
        }
    }

    @Test(arguments: [AppV1.GroupOpenness.consent, .confirm])
    func `A user who was invited by number and joins by a link is in the group once`(openness: AppV1.GroupOpenness)
        async throws
    {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: jose), claimed(2, by: jose), claimed(3, by: ana))
            let group = try await service.group(openness, by: maria).groupID
            let token = try await service.link(to: group, by: maria, uses: 1).token
            let first = try await service.add(phone(1), to: group, by: maria).memberID
            let declined = try await service.add(phone(3), to: group, by: maria).memberID
            try await service.add(phone(2), to: group, by: maria)
            try await service.decline(declined, in: group, by: ana)
            let joined = try await service.join(by: token, jose)
            #expect(joined.memberID == first)
            guard openness == .consent else {
                #expect(joined.state == .pending)
                #expect(try await service.links(of: group, askedBy: maria).map(\.uses) == [0], "he is pending already")
                // A user who declined and then joins by a link has changed their mind.
                #expect(try await service.join(by: token, ana).memberID == declined)
                #expect(try await service.confirm(declined, as: ana, in: group, by: maria).userID == ana.description)
                return
            }
            #expect(joined.state == .member)
            let members = try await service.members(of: group, askedBy: maria).members
            #expect(members.map(\.userID) == [maria.description, jose.description, ""])
            #expect(try await service.invitations(of: jose).invitations.isEmpty)
        }
    }
}
