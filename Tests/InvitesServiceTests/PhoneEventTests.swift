import API
import Models
import RPC
import ServiceKit
import Testing

@testable import InvitesService

@Suite(.serialized) struct PhoneEventTests {
    @Test func `An event is applied once, however often it comes`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let jose = someone()
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            let claim = claimed(1, by: jose)
            #expect(try await service.apply(claim, claim) == 1)
            #expect(try await service.apply(claim) == 0)
            try await service.apply(released(1, by: jose))
            // The claim once more, after the release: if it were applied, Jose would have the number again.
            try await service.apply(claim)
            let other = try await service.group("Others", by: maria)
            #expect(try await service.add(phone(1), to: other, by: maria).state == .pending)
        }
    }

    @Test func `A batch that comes in part again is applied in its new part`() async throws {
        try await InvitesFixture.run { service in
            let jose = someone()
            let maria = someone()
            let first = claimed(1, by: jose)
            try await service.apply(first)
            try await service.apply(first, released(1, by: jose), claimed(2, by: jose))
            let group = try await service.group(by: maria)
            #expect(try await service.add(phone(1), to: group, by: maria).state == .pending)
            #expect(try await service.add(phone(2), to: group, by: maria).userID == jose.description)
        }
    }

    @Test func `An event that can't be read refuses the batch, of which nothing is applied`() async throws {
        try await InvitesFixture.run { service in
            let jose = someone()
            var noID = claimed(2, by: jose)
            noID.eventID = ""
            var noPhone = claimed(2, by: jose)
            noPhone.phoneNumber = "0917"
            var noUser = claimed(2, by: jose)
            noUser.claimed.userID = "jose"
            var noChange = claimed(2, by: jose)
            noChange.change = nil
            for broken in [noID, noPhone, noUser, noChange] {
                let error = try await failure { try await service.apply(claimed(1, by: jose), broken) }
                #expect(error.code == .invalidArgument)
                #expect(error.reason == "EVENT_INVALID")
                #expect(error.fieldViolations.map(\.field) == ["events[1]"])
            }
            #expect(try await service.count("SELECT count(*) FROM inbox") == 0)
            #expect(try await service.count("SELECT count(*) FROM phones") == 0)
        }
    }

    @Test func `A request has at most a hundred events, and may have none`() async throws {
        try await InvitesFixture.run { service in
            let events = (0..<101).map { claimed($0, by: someone()) }
            let error = try await failure { try await service.apply(events) }
            #expect(error.reason == "TOO_MANY_EVENTS")
            #expect(try await service.apply(Array(events.prefix(100))) == 0)
            #expect(try await service.count("SELECT count(*) FROM phones WHERE user_id IS NOT NULL") == 100)
            #expect(try await service.apply() == 0)
        }
    }

    @Test func `Events of a number that would not be taken here are facts all the same`() async throws {
        try await InvitesFixture.run { service in
            var event = claimed(1, by: someone())
            event.phoneNumber = "+14155552671"
            try await service.apply(event)
            #expect(try await service.count("SELECT count(*) FROM phones WHERE phone = '14155552671'") == 1)
        }
    }

    @Test func `Events are forgotten when they are old`() async throws {
        try await InvitesFixture.run { service in
            let old = (0..<100).map { claimed($0, by: someone()) }
            try await service.apply(old)
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM inbox") == 100)
            service.clock.advance(milliseconds: 3_600_000)
            try await service.apply(claimed(1, by: someone()))
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM inbox") == 1)
        }
    }

    @Test func `Only so many are forgotten at once`() async throws {
        try await InvitesFixture.run { service in
            try await service.apply((0..<50).map { claimed($0, by: someone()) })
            let phones = service.parts.methods.phones
            let forgotten = try await phones.forgetEvents(
                appliedBeforeMilliseconds: service.clock.clock.nowMilliseconds + 1,
                limit: 20
            )
            #expect(forgotten == 20)
            #expect(try await service.count("SELECT count(*) FROM inbox") == 30)
        }
    }
}
