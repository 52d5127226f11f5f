import API
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import Testing

@testable import InvitesService

/// Personal data in invitations: what is stored, shown to others, and deleted.
@Suite(.serialized) struct InvitationAccountTests {
    @Test func `A closed account leaves no data in requests, links, blocks and answers`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let confirm = try await service.group(.confirm, by: maria).groupID
            let token = try await service.link(to: confirm, by: maria).token
            let consent = try await service.group(.consent, by: maria).groupID
            let declined = try await service.add(phone(1), to: consent, by: maria).memberID
            try await service.decline(declined, in: consent, by: jose)
            try await service.join(by: token, jose)
            try await service.block(ana, by: jose)
            try await service.block(jose, by: ana)
            // Also as an admin of a group, who creates a link and confirms somebody.
            let group = try await service.group(by: maria)
            try await service.join([jose], to: group, by: maria)
            let id = try await service.memberID(of: jose, in: group, askedBy: maria)
            try await service.setRole(.admin, of: id, in: group, by: maria)
            let his = try await service.link(to: group, by: jose).token
            try await service.join(by: his, someone())

            let store = AccountStore(database: service.database)
            let held = try await store.trace(jose).held.filter { $0.count > 0 }.map(\.name)
            for name in [
                "members_declined", "join_requests", "group_links", "group_link_uses", "blocked_inviters", "blocked_by",
            ] { #expect(held.contains(name), "\(name)") }
            let export = try await store.export(jose)
            for name in ["declined", "join_requests", "links", "used_links", "blocked_inviters"] {
                #expect(export.contains("\"\(name)\" : [{"), "\(name)")
            }
            #expect(!export.contains("secret_hash"))

            try await service.close(jose)
            try await service.apply(releasedByDeletion(1, by: jose), releasedByDeletion(500, by: jose))
            #expect(try await store.trace(jose).held.filter { $0.count > 0 }.map(\.name) == [])
            #expect(try await service.links(of: group, askedBy: maria).map(\.createdByUserID) == [""])
            #expect(try await service.pending(of: confirm, askedBy: maria).people.isEmpty)
            #expect(try await service.blocked(by: ana).inviters.isEmpty)
            #expect(await outcome { try await service.join(by: token, jose) } == "SESSION_REVOKED")
            #expect(await outcome { try await service.block(ana, by: jose) } == "SESSION_REVOKED")
        }
    }

    @Test func `A user who accepts, is confirmed or joins by a link is reported once, with the membership`()
        async throws
    {
        try await InvitesFixture.run { service in
            service.identity.wantedTypes = ["group.joined"]
            #expect(await service.parts.events.askOnce())
            let (maria, jose, ana, eva) = (someone(), someone(), someone(), someone())
            try await service.apply(claimed(1, by: jose), claimed(2, by: ana))
            let consent = try await service.group(.consent, by: maria).groupID
            let confirm = try await service.group(.confirm, by: maria).groupID
            let invited = try await service.add(phone(1), to: consent, by: maria).memberID
            let waiting = try await service.add(phone(2), to: confirm, by: maria).memberID
            #expect(try await service.waiting().isEmpty)
            for _ in 0..<2 { try await service.accept(invited, in: consent, by: jose) }
            for _ in 0..<2 { try await service.confirm(waiting, as: ana, in: confirm, by: maria) }
            let token = try await service.link(to: confirm, by: maria).token
            let asked = try await service.join(by: token, eva).memberID
            #expect(try await service.waiting().count == 2)
            try await service.confirm(asked, as: eva, in: confirm, by: maria)
            let joined = try await service.join(by: try await service.link(to: consent, by: maria).token, eva).memberID
            // A user who was waiting for confirmation when the group ends it.
            let late = someone()
            let request = try await service.join(by: token, late).memberID
            _ = try await service.update(confirm, by: maria, openness: .consent)
            #expect(
                try await service.waiting() == [
                    "\(jose) \(consent) \(invited)", "\(ana) \(confirm) \(waiting)", "\(eva) \(confirm) \(asked)",
                    "\(eva) \(consent) \(joined)", "\(late) \(confirm) \(request)",
                ]
            )
        }
    }

    @Test func `A held account joins nothing, and its request waits`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(.confirm, by: maria).groupID
            let token = try await service.link(to: group, by: maria).token
            let id = try await service.join(by: token, jose).memberID
            #expect(try await service.hold(jose, EventID.of(1)))
            #expect(await outcome { try await service.confirm(id, as: jose, in: group, by: maria) } == "ACCOUNT_HELD")
            let other = try await service.group(by: maria)
            let open = try await service.link(to: other, by: maria).token
            #expect(await outcome { try await service.join(by: open, jose) } == "ACCOUNT_HELD")
            _ = try await service.update(group, by: maria, openness: .open)
            #expect(try await service.members(of: group, askedBy: maria).members.count == 1)
            try await service.reopen(jose, EventID.of(1))
            #expect(try await service.confirm(id, as: jose, in: group, by: maria).userID == jose.description)
            #expect(try await service.join(by: open, jose).state == .member)
        }
    }
}
