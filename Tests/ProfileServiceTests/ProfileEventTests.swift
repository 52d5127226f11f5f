import API
import Logging
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels
import ServiceStore
import SwiftProtobuf
import TestWaits
import Testing

@testable import ProfileService

/// The events of profiles that webhook targets get.
@Suite(.serialized) struct ProfileEventTests {
    private static let all = ["profile.completed", "phone.changed"]

    @Test func `Without a target nothing is written`() async throws {
        try await ProfileFixture.run { service in
            service.identity.wantedTypes = ["group.joined"]
            #expect(await service.parts.events.askOnce())
            let maria = someone()
            try await service.update(maria, displayName: "Maria", phone: phone(1))
            _ = try await service.client.releasePhone(.with { $0.userID = maria.description })
            #expect(try await service.waiting().isEmpty)
            service.identity.wantedTypes = ["phone.changed"]
            #expect(await service.parts.events.askOnce())
            try await service.update(maria, phone: phone(2))
            #expect(try await service.waiting() == ["phone.changed \(maria)"], "and of what is wanted that alone")
            service.identity.wantedTypes = []
            #expect(await service.parts.events.askOnce())
            try await service.update(maria, phone: phone(3))
            #expect(try await service.waiting().count == 1)
        }
    }

    @Test func `A profile is completed by the last required field, and each save of another number changes it`()
        async throws
    {
        try await ProfileFixture.run { service in
            service.identity.wantedTypes = Self.all
            #expect(await service.parts.events.askOnce())
            let maria = someone()
            try await service.update(maria, displayName: "Maria", username: "maria_s")
            #expect(try await service.waiting().isEmpty)
            try await service.update(maria, phone: phone(1))
            #expect(Set(try await service.waiting()) == ["phone.changed \(maria)", "profile.completed \(maria)"])
            try await service.update(maria, displayName: "Maria Santos", phone: phone(1))
            #expect(try await service.waiting().count == 2, "neither changed")
            try await service.update(maria, phone: phone(2))
            #expect(try await service.waiting().dropFirst(2) == ["phone.changed \(maria)"])
            // An operator releases it, once; then the profile is completed a second time.
            for _ in 0..<2 { _ = try await service.client.releasePhone(.with { $0.userID = maria.description }) }
            #expect(try await service.waiting().dropFirst(3) == ["phone.changed \(maria)"])
            try await service.update(maria, phone: phone(3))
            #expect(
                Set(try await service.waiting().dropFirst(4)) == [
                    "phone.changed \(maria)", "profile.completed \(maria)",
                ]
            )
            // A refused save writes no event.
            let jose = someone()
            _ = try await failure { try await service.update(jose, displayName: "Jose", phone: phone(3)) }
            #expect(try await service.waiting().count == 6)
        }
        try await ProfileFixture.run(required: RequiredFields([])) { service in
            service.identity.wantedTypes = Self.all
            #expect(await service.parts.events.askOnce())
            let maria = someone()
            try await service.update(maria, displayName: "Maria", phone: phone(1))
            #expect(
                try await service.waiting() == ["phone.changed \(maria)"],
                "one that lacks nothing can't be completed"
            )
        }
    }

    @Test func `Identity gets ids only, and the same event id after a failed delivery`() async throws {
        try await ProfileFixture.run { service in
            service.identity.wantedTypes = Self.all
            #expect(await service.parts.events.askOnce())
            let maria = someone()
            try await service.update(maria, displayName: "Maria", phone: phone(1))
            let ids = Set(try await service.waiting("event_id::text"))
            service.identity.failure = .unavailable
            #expect(await service.parts.events.askOnce() == false)
            let runner = service.quickRunner()
            let task = Task { try await runner.run() }
            try await Task.sleep(for: .milliseconds(50))
            #expect(Set(try await service.waiting("event_id::text")) == ids && service.identity.events.isEmpty)
            service.identity.failure = nil
            try await eventually("all is delivered") { try await service.waiting().isEmpty }
            task.cancel()
            try await task.value
            let events = service.identity.events
            #expect(Set(events.map(\.eventID)) == ids && Set(events.map(\.type)) == Set(Self.all))
            #expect(events.allSatisfy { $0.userID == maria.description && $0.groupID.isEmpty && $0.memberID.isEmpty })
            #expect(events.allSatisfy { $0.occurredAtMilliseconds == service.clock.clock.nowMilliseconds })
            #expect(try await service.waitingEvents().count == 1, "the events for invites still wait")
        }
    }

    @Test func `An event that identity refuses delays no other, and is never parked`() async throws {
        try await ProfileFixture.run { service in
            service.identity.wantedTypes = Self.all
            #expect(await service.parts.events.askOnce())
            let (maria, jose) = (someone(), someone())
            service.identity.refuse(maria)
            try await service.update(maria, displayName: "Maria", phone: phone(1))
            try await service.update(jose, displayName: "Jose", phone: phone(2))
            let runner = service.quickRunner()
            let task = Task { try await runner.run() }
            try await eventually("the other user's are delivered") { service.identity.events.count == 2 }
            try await eventually("hers are retried for ever") {
                service.clock.advance(milliseconds: 3_600_000)
                return try await service.count("SELECT coalesce(min(tries), 0) FROM work WHERE queue = 'events'") > 20
            }
            task.cancel()
            try await task.value
            #expect(try await service.count("SELECT count(*) FROM work WHERE parked_at IS NOT NULL") == 0)
            #expect(service.identity.events.allSatisfy { $0.userID == jose.description })
            // For a month.
            service.clock.advance(milliseconds: 34 * 86_400_000)
            await service.parts.cleanup.clean()
            #expect(try await service.waiting().isEmpty)
        }
    }

    @Test func `If identity refuses events none is wanted, and while it is down nothing changes`() async throws {
        try await ProfileFixture.run { service in
            service.identity.wantedTypes = Self.all
            #expect(await service.parts.events.askOnce())
            for code in [Status.Code.unavailable, .deadlineExceeded, .internalError] {
                service.identity.failure = code
                #expect(await service.parts.events.askOnce() == false)
                let wanted = try await service.count("SELECT count(*) FROM wanted_events")
                #expect(wanted == 2, "\(code)")
            }
            for code in [Status.Code.permissionDenied, .unimplemented, .unauthenticated] {
                service.identity.failure = code
                #expect(await service.parts.events.askOnce())
                let wanted = try await service.count("SELECT count(*) FROM wanted_events")
                #expect(wanted == 0, "\(code)")
                service.identity.failure = nil
                #expect(await service.parts.events.askOnce())
                #expect(try await service.count("SELECT count(*) FROM wanted_events") == 2)
            }
        }
    }

    @Test func `Waiting events of a closed account are deleted, and its end is no change of number`() async throws {
        try await ProfileFixture.run { service in
            service.identity.wantedTypes = Self.all
            #expect(await service.parts.events.askOnce())
            let (maria, jose, ana) = (someone(), someone(), someone())
            for (index, user) in [maria, jose].enumerated() {
                try await service.update(user, displayName: "Somebody", phone: phone(index + 1))
            }
            try await service.update(ana, phone: phone(3))
            _ = try await service.client.releasePhone(.with { $0.userID = ana.description })
            let trace = try await AccountData.trace(maria, in: service.database)
            #expect(trace.held.first { $0.name == "events" }?.count == 2)
            #expect(try await AccountData.export(maria, in: service.database).contains("profile.completed"))
            try await service.close(maria)
            // The account is absorbed by another one.
            try await service.database.execute("DELETE FROM work WHERE queue = 'phone_events'")
            let absorption = ProfileV1.CloseIfEmptyRequest.with {
                ($0.userID, $0.absorptionID) = (ana.description, someone().description)
            }
            #expect(try await service.client.closeIfEmpty(absorption).isEmpty)
            #expect(
                Set(try await service.waiting()) == ["phone.changed \(jose)", "profile.completed \(jose)"]
            )
        }
    }
}

extension ProfileFixture {
    /// The events that wait for identity, oldest first, as text.
    fileprivate func waiting(_ columns: String = "concat_ws(' ', data ->> 'type', user_id)") async throws -> [String] {
        try await database.query("SELECT \(unsafeSQL: columns) FROM work WHERE queue = 'events' ORDER BY id").map {
            try $0.decode(0)
        }
    }

    /// Delivers events to identity, without delays.
    fileprivate func quickRunner() -> WorkRunner<ServiceEventWork> {
        var rules = parts.events.runner.kind.rules
        rules.pollInterval = .milliseconds(5)
        rules.outage = Backoff(first: .milliseconds(1), max: .milliseconds(5))
        return WorkRunner(parts.events.runner.kind, in: workTable, rules: rules, logger: Logger(label: "test"))
    }
}
