import API
import Models
import Postgres
import ServiceModels
import Testing

@testable import InvitesService

/// An unauthorized user waits for nobody's number, and locks none.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OutsiderTests {
    @Test func `An unauthorized call is refused before a number is locked`() async throws {
        try await InvitesFixture.run { service in
            let (maria, ana, jose, stranger) = (someone(), someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.join([ana], to: group, by: maria)
            _ = try await service.update(group, by: maria, openness: .confirm)
            try await service.apply(claimed(1, by: jose))
            let id = try await service.add(phone(1), to: group, by: maria).memberID
            let refused = try await service.database.withTransaction { transaction in
                try await transaction.query("SELECT FROM phones FOR UPDATE")
                try await transaction.query("SELECT FROM groups FOR UPDATE")
                try await transaction.query("SELECT FROM user_locks FOR UPDATE")
                return await [
                    outcome { try await service.add(phone(1), to: group, by: stranger) },
                    outcome { try await service.add([phone(1), phone(2)], to: group, by: stranger) },
                    outcome { try await service.update(group, by: stranger, openness: .open) },
                    outcome { try await service.update(group, by: ana, openness: .open) },
                    outcome { try await service.confirm(id, as: jose, in: group, by: stranger) },
                    outcome { try await service.confirm(id, as: jose, in: group, by: ana) },
                    outcome { try await service.remove(id, from: group, by: stranger) },
                ]
            }
            #expect(
                refused == [
                    "NOT_A_MEMBER", "NOT_A_MEMBER", "NOT_A_MEMBER", "ROLE_INSUFFICIENT", "NOT_A_MEMBER",
                    "ROLE_INSUFFICIENT", "NOT_A_MEMBER",
                ]
            )
            #expect(try await service.count("SELECT count(*) FROM phones WHERE right(phone, 1) = '2'") == 0)
        }
    }

    @Test func `A link's creator who left is not stored by users who join by the link`() async throws {
        try await InvitesFixture.run { service in
            let (maria, ana, jose) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.join([ana], to: group, by: maria)
            let id = try await service.memberID(of: ana, in: group, askedBy: maria)
            try await service.setRole(.admin, of: id, in: group, by: maria)
            let token = try await service.link(to: group, by: ana).token
            let links = service.parts.groupMethods.links
            let visit = GroupLinkStore.Visit(userID: jose, addressCode: nil, nowMilliseconds: 1_700_000_000_500)
            let target = try await links.target(of: token, visit, limits: InvitesFixture.unlimited, deadline: nil)
            // Between the two steps.
            try await service.leave(group, ana)
            _ = try await links.join(
                target,
                visit,
                memberID: MemberID(high: 9, low: 9),
                limits: InvitesFixture.unlimited,
                deadline: nil
            )
            #expect(try await service.members(of: group, askedBy: jose).members.count == 2)
            let traces = "'\(ana)' IN (user_id::text, added_by::text, confirmed_by::text)"
            #expect(try await service.count("SELECT count(*) FROM members WHERE \(traces)") == 0)
        }
    }
}
