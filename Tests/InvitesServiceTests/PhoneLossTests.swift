import API
import Models
import Postgres
import RPC
import ServiceModels
import SwiftProtobuf
import Testing

@testable import InvitesService

/// The event that a user has proven a number, and from whom that took it.
func taken(_ number: Int, by user: UserID, from holder: UserID) -> InvitesV1.PhoneEvent {
    var event = claimed(number, by: user)
    event.claimed.isProven = true
    event.claimed.takenFromUserID = holder.description
    return event
}

/// What happens to members when their number changes hands.
@Suite(.serialized) struct PhoneLossTests {
    /// A group's rows, oldest first: the member and the number, `?` while in doubt, `-` for a pending person.
    private func rows(of group: String, _ service: InvitesFixture) async throws -> [String] {
        try await service.database.query(
            Query(
                unsafeSQL: """
                    SELECT COALESCE(user_id::text, '-') || ' ' || COALESCE(right(phone, 1), '')
                        || CASE WHEN unconfirmed_at IS NULL THEN '' ELSE '?' END
                    FROM members WHERE group_id = '\(group)' ORDER BY phone NULLS FIRST, member_id
                    """
            )
        ).map { try $0.decode(0, as: String.self) }
    }

    @Test func `A member who gives the number up is in doubt, and the number waits in a second place`() async throws {
        try await InvitesFixture.run(groupMembersMax: 2) { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: maria)
            let member = try await service.add(phone(1), named: "Jose", to: group, by: maria)
            try await service.apply(claimed(1, by: jose))
            // The group is full, and nobody loses a place.
            try await service.apply(released(1, by: jose))
            #expect(try await rows(of: group, service) == ["\(maria) ", "\(jose) 1?", "- 1"])
            let listed = try await service.members(of: group, askedBy: jose).members
            #expect(listed.map(\.displayName) == ["", "Jose", "Jose"])
            #expect(listed[1].memberID == member.memberID && listed[2].state == .pending)
            // Repeated, as by a redelivery with another id.
            try await service.apply(released(1, by: jose))
            #expect(try await rows(of: group, service) == ["\(maria) ", "\(jose) 1?", "- 1"])
            try await service.apply(claimed(1, by: jose))
            #expect(try await rows(of: group, service) == ["\(maria) ", "\(jose) 1"])
        }
    }

    @Test func `The number's next user gets the second place, and its former user stays in doubt`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            // In one batch, in which each event sees the effects of the earlier ones.
            try await service.apply(claimed(1, by: jose), released(1, by: jose), claimed(1, by: ana))
            #expect(try await rows(of: group, service) == ["\(maria) ", "\(jose) 1?", "\(ana) 1"])
            try await service.apply(released(1, by: ana), claimed(1, by: jose))
            #expect(try await rows(of: group, service) == ["\(maria) ", "\(jose) 1", "\(ana) 1?"])
        }
    }

    @Test func `A proof takes the place of a member who is there by the number alone`() async throws {
        try await InvitesFixture.run { service in
            service.identity.wantedTypes = ["group.joined"]
            #expect(await service.parts.events.askOnce())
            let (maria, mallory, jose) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: mallory))
            let group = try await service.group(by: maria)
            let member = try await service.add(phone(1), to: group, by: maria)
            #expect(try await service.apply(taken(1, by: jose, from: mallory)) == 1)
            #expect(try await rows(of: group, service) == ["\(maria) ", "\(jose) 1"])
            let listed = try await service.members(of: group, askedBy: jose).members
            #expect(listed[1].memberID == member.memberID, "shares belong to the place")
            let error = try await failure { try await service.members(of: group, askedBy: mallory) }
            #expect(error.reason == "NOT_A_MEMBER")
            // Both joins are reported, each with its own id.
            let told = "SELECT count(DISTINCT event_id) FROM work WHERE data ->> 'type' = 'group.joined'"
            #expect(try await service.count(told) == 2)
            #expect(try await service.count("SELECT count(*) FROM work WHERE user_id = '\(jose)'") == 1)
        }
    }

    @Test func `Roles never move with a number: owners, admins and confirmed members stay`() async throws {
        try await InvitesFixture.run { service in
            let (maria, mallory, jose) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: mallory))
            var groups: [String] = []
            for change in ["role = 'admin'", "confirmed_by = '\(maria)'", "display_name = 'Owner'"] {
                let group = try await service.group(by: maria)
                try await service.add(phone(1), to: group, by: maria)
                try await service.database.execute(
                    Query(
                        unsafeSQL: "UPDATE members SET \(change) WHERE user_id = '\(mallory)' AND group_id = '\(group)'"
                    )
                )
                groups.append(group)
            }
            try await service.database.execute(
                Query(unsafeSQL: "UPDATE groups SET owner_user_id = '\(mallory)' WHERE group_id = '\(groups[2])'")
            )
            try await service.apply(taken(1, by: jose, from: mallory))
            #expect(try await rows(of: groups[0], service) == ["\(maria) ", "\(mallory) 1?", "\(jose) 1"])
            #expect(try await rows(of: groups[1], service) == ["\(maria) ", "\(mallory) 1", "\(jose) 1"])
            #expect(try await rows(of: groups[2], service) == ["\(maria) ", "\(mallory) 1?", "\(jose) 1"])
        }
    }

    @Test func `If the prover is a member already, the place is removed`() async throws {
        try await InvitesFixture.run { service in
            let (maria, mallory, jose) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: mallory), claimed(2, by: jose))
            let group = try await service.group(by: maria)
            for number in 1...2 { try await service.add(phone(number), to: group, by: maria) }
            try await service.apply(released(2, by: jose), taken(1, by: jose, from: mallory))
            #expect(try await rows(of: group, service) == ["\(maria) ", "\(jose) 2?", "- 2"])
        }
    }

    @Test func `A confirmed member who gives the number up isn't in doubt`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            try await service.database.execute(
                Query(unsafeSQL: "UPDATE members SET confirmed_by = '\(maria)' WHERE user_id = '\(jose)'")
            )
            try await service.apply(released(1, by: jose))
            #expect(try await rows(of: group, service) == ["\(maria) ", "\(jose) 1"])
        }
    }

    @Test func `A release by deletion leaves no doubt and nothing pending`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            var release = released(1, by: jose)
            release.released.byDeletion = true
            _ = try await service.invites.closeAccount(.with { $0.userID = jose.description })
            try await service.apply(release)
            #expect(try await rows(of: group, service) == ["\(maria) "])
            #expect(try await service.count("SELECT count(*) FROM phones WHERE phone LIKE '%1000001'") == 0)
        }
    }

    @Test func `A claim by proof of a closed account still puts the number's former user in doubt`() async throws {
        try await InvitesFixture.run { service in
            let (maria, mallory, jose) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: mallory))
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            _ = try await service.invites.closeAccount(.with { $0.userID = jose.description })
            try await service.apply(taken(1, by: jose, from: mallory))
            #expect(try await rows(of: group, service) == ["\(maria) ", "\(mallory) 1?", "- 1"])
        }
    }

    @Test func `Only so many members per number stay in doubt, and further ones lose their place`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            for _ in 0..<(PhoneStore.doubtsMax + 5) {
                let mallory = someone()
                try await service.apply(claimed(1, by: mallory), released(1, by: mallory))
            }
            let doubts = try await service.count("SELECT count(*) FROM members WHERE unconfirmed_at IS NOT NULL")
            #expect(doubts == Int64(PhoneStore.doubtsMax))
            #expect(try await service.count("SELECT count(*) FROM members") == doubts + 2)
        }
    }

    @Test func `A merged number waits again when its user loses it`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(by: maria)
            for number in 1...3 { try await service.add(phone(number), to: group, by: maria) }
            // It is merged by a claim; a member's number is merged when it is added.
            try await service.apply(released(1, by: jose), claimed(2, by: jose))
            #expect(try await rows(of: group, service) == ["\(maria) ", "\(jose) 1?", "- 1", "- 3"])
            try await service.apply(claimed(4, by: maria))
            try await service.add(phone(4), named: "Maria", to: group, by: maria)
            try await service.apply(taken(2, by: ana, from: jose), released(4, by: maria))
            #expect(
                try await rows(of: group, service) == ["\(maria) ", "\(jose) 1?", "- 1", "\(ana) 2", "- 3", "- 4"]
            )
            #expect(try await service.count("SELECT count(*) FROM merged_numbers") == 0)
        }
    }

    @Test func `Merged numbers are deleted with the account and with the group`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: maria)
            try await service.apply(claimed(1, by: jose), claimed(2, by: maria))
            try await service.add(phone(1), to: group, by: maria)
            try await service.add(phone(2), to: group, by: maria)
            try await service.add(phone(3), to: group, by: jose)
            try await service.apply(released(1, by: jose), claimed(3, by: jose))
            #expect(try await service.count("SELECT count(*) FROM merged_numbers") == 2)
            _ = try await service.invites.closeAccount(.with { $0.userID = jose.description })
            #expect(try await service.count("SELECT count(*) FROM merged_numbers WHERE user_id = '\(maria)'") == 1)
            #expect(try await service.count("SELECT count(*) FROM merged_numbers") == 1)
            _ = try await service.invites.closeAccount(.with { $0.userID = maria.description })
            #expect(try await service.count("SELECT count(*) FROM merged_numbers") == 0)
        }
    }
}
