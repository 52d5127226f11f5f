import API
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore
import Testing

@testable import InvitesService

/// The events of new members that webhook targets get.
@Suite(.serialized) struct JoinedEventTests {
    @Test func `Without a target nothing is written`() async throws {
        try await InvitesFixture.run { service in
            service.identity.wantedTypes = ["phone.changed", "account.created"]
            #expect(await service.parts.events.askOnce())
            let (maria, jose, ana) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            try await service.add(phone(2), to: group, by: maria)
            try await service.apply(claimed(2, by: ana))
            #expect(try await service.members(of: group, askedBy: ana).members.count == 3)
            #expect(try await service.waiting().isEmpty)
            #expect(try await service.count("SELECT count(*) FROM wanted_events") == 0, "other services' types")
        }
    }

    @Test func `A user who is added or linked is reported once, with the membership, and a group's creator is not`()
        async throws
    {
        try await InvitesFixture.run { service in
            service.identity.wantedTypes = ["group.joined"]
            #expect(await service.parts.events.askOnce())
            let (maria, jose, ana) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(by: maria)
            #expect(try await service.waiting().isEmpty)
            let added = try await service.add(phone(1), to: group, by: maria)
            try await service.add(phone(1), to: group, by: maria)
            let pending = try await service.add(phone(2), to: group, by: maria)
            #expect(
                try await service.waiting() == ["\(jose) \(group) \(added.memberID)"],
                "nobody has the other number"
            )
            let claim = claimed(2, by: ana)
            try await service.apply(claim)
            try await service.apply(claim)
            let told = ["\(jose) \(group) \(added.memberID)", "\(ana) \(group) \(pending.memberID)"]
            #expect(try await service.waiting() == told)
            // A user who is in the group already only has another number.
            try await service.add(phone(3), to: group, by: maria)
            try await service.apply(claimed(3, by: ana))
            // A user who adds themselves by their next number isn't reported either.
            try await service.add(phone(4), to: group, by: maria)
            try await service.apply(claimed(4, by: maria))
            #expect(try await service.waiting() == told)

            let relay = Task { try await service.parts.events.runner.run() }
            for _ in 0..<6_000 where service.identity.events.count < 2 { try await Task.sleep(for: .milliseconds(10)) }
            for _ in 0..<6_000 {
                if try await service.waiting().isEmpty { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            relay.cancel()
            try await relay.value
            #expect(try await service.waiting().isEmpty)
            let events = service.identity.events
            #expect(events.map { "\($0.userID) \($0.groupID) \($0.memberID)" } == told)
            #expect(Set(events.map(\.eventID)).count == 2)
            #expect(events.allSatisfy { $0.type == "group.joined" && $0.occurredAtMilliseconds > 1_700_000_000_000 })
        }
    }

    /// With the same id a receiver would take it for a repetition.
    @Test func `A place that was taken and is accepted later is reported with another id`() async throws {
        try await InvitesFixture.run { service in
            service.identity.wantedTypes = ["group.joined"]
            #expect(await service.parts.events.askOnce())
            let (maria, mallory, jose) = (someone(), someone(), someone())
            try await service.apply(claimed(1, by: mallory))
            let group = try await service.group(.consent, by: maria).groupID
            let id = try await service.add(phone(1), to: group, by: maria).memberID
            try await service.accept(id, in: group, by: mallory)
            try await service.apply(taken(1, by: jose, from: mallory))
            #expect(try await service.accept(id, in: group, by: jose).memberID == id)
            #expect(
                try await service.waiting() == ["\(mallory) \(group) \(id)", "\(jose) \(group) \(id)"]
            )
            #expect(try await service.count("SELECT count(DISTINCT event_id) FROM work") == 2)
        }
    }

    @Test func `Waiting events of a closed account are deleted with it`() async throws {
        try await InvitesFixture.run { service in
            service.identity.wantedTypes = ["group.joined"]
            #expect(await service.parts.events.askOnce())
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.apply(claimed(1, by: jose), claimed(2, by: ana))
            try await service.add(phone(1), to: group, by: maria)
            let kept = try await service.add(phone(2), to: group, by: maria)
            #expect(
                try await AccountStore(database: service.database).trace(jose).held.map(\.name).contains("events")
            )
            try await service.close(jose)
            #expect(try await service.waiting() == ["\(ana) \(group) \(kept.memberID)"])
            // An event that isn't delivered for a month is deleted too.
            service.clock.advance(milliseconds: 34 * 86_400_000)
            await service.parts.cleanup.clean()
            #expect(try await service.waiting().isEmpty)
        }
    }
}

extension InvitesFixture {
    /// The waiting events, oldest first, as `user group member`.
    func waiting() async throws -> [String] {
        try await database.query(
            "SELECT concat_ws(' ', user_id, data ->> 'group_id', data ->> 'member_id') FROM work ORDER BY id"
        ).map { try $0.decode(0, as: String.self) }
    }
}
