import API
import Models
import Postgres
import ServiceModels
import TestDatabases
import Testing

@testable import InvitesService

/// The place that a user has by a second number, when a proof takes the number of their membership.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OtherPlaceTests {
    /// A group's rows: the member and the number, `-` for a pending person.
    private func rows(of group: String, _ service: InvitesFixture) async throws -> [String] {
        try await service.database.query(
            Query(
                unsafeSQL: """
                    SELECT COALESCE(user_id::text, '-') || ' ' || COALESCE(right(phone, 1), '')
                    FROM members WHERE group_id = '\(group)' ORDER BY phone NULLS FIRST, member_id
                    """
            )
        ).map { try $0.decode(0, as: String.self) }
    }

    @Test func `A proof of one number leaves its loser's place by another number`() async throws {
        try await InvitesFixture.run { service in
            let (maria, mallory, jose) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: mallory), claimed(2, by: mallory))
            let group = try await service.group(by: maria)
            for number in 1...2 { try await service.add(phone(number), to: group, by: maria) }
            #expect(try await rows(of: group, service) == ["\(maria) ", "\(mallory) 1"])
            #expect(try await service.apply(taken(1, by: jose, from: mallory)) == 2)
            #expect(try await rows(of: group, service) == ["\(maria) ", "\(jose) 1", "\(mallory) 2"])
            // Also if that one is lost in the next event, or in the same batch.
            try await service.apply(released(2, by: mallory), claimed(2, by: maria), released(2, by: maria))
            #expect(try await rows(of: group, service).contains("\(jose) 1"))
            #expect(try await service.count("SELECT count(*) FROM merged_numbers") == 0)
        }
    }

    @Test func `After a proof took a user's place, closing the account leaves no data`() async throws {
        try await InvitesFixture.run { service in
            let (maria, mallory, jose) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.apply(claimed(1, by: mallory))
            try await service.add(phone(1), to: group, by: maria)
            try await service.add(phone(2), to: group, by: mallory)
            try await service.apply(taken(1, by: jose, from: mallory))
            #expect(try await service.members(of: group, askedBy: jose).members.count == 3)
            try await service.close(mallory)
            #expect(try await service.count("SELECT count(*) FROM members WHERE added_by = '\(mallory)'") == 0)
        }
    }

    @Test func `Two numbers that are lost at once both wait`() async throws {
        try await InvitesFixture.run { service in
            let (maria, mallory, jose) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: mallory), claimed(2, by: mallory))
            let group = try await service.group(by: maria)
            for number in 1...2 { try await service.add(phone(number), to: group, by: maria) }
            try await service.apply(taken(1, by: jose, from: mallory), released(2, by: mallory))
            #expect(try await rows(of: group, service) == ["\(maria) ", "\(jose) 1", "- 2"])
        }
    }

    @Test func `In a group with consent the other number is an invitation again`() async throws {
        try await InvitesFixture.run { service in
            let (maria, mallory, jose) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: mallory), claimed(2, by: mallory))
            let group = try await service.group(.consent, by: maria).groupID
            let id = try await service.add(phone(1), to: group, by: maria).memberID
            let other = try await service.add(phone(2), to: group, by: maria).memberID
            try await service.accept(id, in: group, by: mallory)
            try await service.apply(taken(1, by: jose, from: mallory))
            #expect(try await rows(of: group, service) == ["\(maria) ", "- 1", "- 2"])
            #expect(try await service.invitationIDs(of: jose) == [id])
            #expect(try await service.invitationIDs(of: mallory) == [other])
        }
    }

    /// Locks are always taken on groups before members.
    @Test func `A claim holds no member's row while it waits for the group`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: maria)
            for number in 1...2 { try await service.add(phone(number), to: group, by: maria) }
            try await service.apply(claimed(1, by: jose))
            let id = try #require(GroupID(group)).uuid
            let claiming = try await service.database.withTransaction { transaction in
                try await transaction.query("SELECT FROM groups WHERE group_id = \(id) FOR UPDATE")
                // The number is merged into his place.
                let claiming = Task { await outcome { try await service.apply(claimed(2, by: jose)) } }
                try await service.database.waitForLockWaits()
                let rows = try await transaction.query(
                    "SELECT FROM members WHERE group_id = \(id) FOR UPDATE NOWAIT"
                )
                #expect(rows.count == 3)
                return claiming
            }
            #expect(await claiming.value == "done")
            #expect(try await rows(of: group, service) == ["\(maria) ", "\(jose) 1"])
        }
    }
}
