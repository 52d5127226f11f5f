import API
import Logging
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceStore
import Synchronization
import TestWaits
import Testing

@testable import ProfileService

@Suite(.serialized) struct OutboxTests {
    @Test func `A saved phone reaches invites, and nothing is left to tell`() async throws {
        try await ProfileFixture.run { service in
            try await service.relaying {
                let user = someone()
                try await service.update(user, phone: phone(1))
                try await service.update(user, phone: phone(2))
                try await eventually("three events are told") { service.invites.told.count >= 3 }
                #expect(
                    service.invites.told == [
                        "claimed \(digits(1)) \(user)", "released \(digits(1)) \(user)",
                        "claimed \(digits(2)) \(user)",
                    ]
                )
                #expect(Set(service.invites.events.map(\.eventID)).count == 3)
                try await eventually("the outbox is empty") {
                    try await service.count("SELECT count(*) FROM outbox") == 0
                }
            }
        }
    }

    @Test func `A phone is saved while invites is down, and told when it is back`() async throws {
        try await ProfileFixture.run { service in
            service.invites.isDown = true
            try await service.relaying {
                let user = someone()
                for number in 0..<5 {
                    #expect(try await service.update(user, phone: phone(number)).phoneNumber == "+" + digits(number))
                }
                let expected = try await service.waitingEvents()
                #expect(expected.count == 9)
                try await eventually("it was tried") { service.invites.failureCount >= 2 }
                #expect(service.invites.told.isEmpty)
                service.invites.isDown = false
                try await eventually("all is told") { service.invites.told.count >= 9 }
                #expect(service.invites.told == expected)
                try await eventually("the outbox is empty") { try await service.waitingEvents().isEmpty }
            }
        }
    }

    @Test func `What waits is counted, and how long the oldest has waited`() async throws {
        try await ProfileFixture.run { service in
            let outbox = PhoneOutbox(database: service.database, clock: service.clock.clock)
            #expect(try await outbox.backlog() == OutboxBacklog())
            try await service.update(someone(), phone: phone(1))
            service.clock.advance(milliseconds: 90_000)
            try await service.update(someone(), phone: phone(2))
            #expect(try await outbox.backlog() == OutboxBacklog(eventCount: 2, oldestAge: .seconds(90)))
            _ = try await outbox.relayBatch(limit: 1) { _ in .setAside(reason: "BAD") }
            let rest = OutboxBacklog(eventCount: 1, setAsideCount: 1)
            #expect(try await outbox.backlog() == rest, "what was set aside does not wait")
        }
    }

    @Test func `An event that is refused for good is set aside and holds up no other`() async throws {
        try await ProfileFixture.run { service in
            let users = (0..<4).map { _ in someone() }
            for (number, user) in users.enumerated() { try await service.update(user, phone: phone(number)) }
            service.invites.refuse(phone: "+" + digits(1))
            try await service.relaying {
                try await eventually("the others are told") { service.invites.told.count >= 3 }
                try await eventually("nothing waits") { try await service.waitingEvents().isEmpty }
            }
            #expect(
                service.invites.told == [0, 2, 3].map { "claimed \(digits($0)) \(users[$0])" }
            )
            let kept = try await service.database.query("SELECT phone, rejection FROM outbox")
            #expect(kept.count == 1)
            let (phone, rejection) = try kept[0].decode(String.self, String.self)
            #expect(phone == digits(1))
            #expect(rejection == "EVENT_INVALID")
        }
    }

    @Test func `Relays of two replicas tell each event once and in order`() async throws {
        try await ProfileFixture.run { service in
            let tasks = (0..<3).map { _ in
                let relay = OutboxRelay(
                    store: PhoneOutbox(database: service.database, clock: service.clock.clock),
                    logger: .init(label: "test"),
                    deliver: {
                        try await PhoneEventDelivery(
                            invites: InvitesServiceClient(InProcessChannel(Router(service.invites)))
                        ).deliver($0)
                    }
                )
                return Task { try await relay.run() }
            }
            let users = (0..<3).map { _ in someone() }
            for number in 0..<30 { try await service.update(users[number % 3], phone: phone(number)) }
            try await eventually("nothing waits") { try await service.waitingEvents().isEmpty }
            for task in tasks { task.cancel() }
            for task in tasks { try await task.value }
            #expect(Set(service.invites.events.map(\.eventID)).count == service.invites.events.count)
            #expect(service.invites.events.count == 30 + 27)
            for user in users {
                let own = service.invites.told.filter { $0.hasSuffix(user.description) }
                var held: Substring?
                for event in own {
                    let words = event.split(separator: " ")
                    if words[0] == "claimed" {
                        #expect(held == nil)
                        held = words[1]
                    } else {
                        #expect(held == words[1])
                        held = nil
                    }
                }
            }
        }
    }

    @Test func `An event that was told before the relay died is told again, not lost`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            try await service.update(user, phone: phone(1))
            let outbox = PhoneOutbox(database: service.database, clock: service.clock.clock)
            let told = Mutex<[EventID]>([])
            // The connection that relays dies after the receiver has answered and before the commit.
            await #expect(throws: (any Error).self) {
                _ = try await outbox.relayBatch(limit: 10) { events in
                    told.withLock { $0 += events.map(\.id) }
                    _ = try? await service.database.query(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE state = 'idle in transaction' AND datname = current_database()
                        """
                    )
                    return .delivered
                }
            }
            #expect(try await service.waitingEvents().count == 1)
            // PostgreSQL needs a moment to notice the death and to free the lock.
            var batch = OutboxBatch.busy
            try await eventually("the lock is free") {
                batch = try await outbox.relayBatch(limit: 10) { events in
                    told.withLock { $0 += events.map(\.id) }
                    return .delivered
                }
                return batch != .busy
            }
            #expect(batch == .handled(eventCount: 1))
            let ids = told.withLock { $0 }
            #expect(ids.count == 2 && ids[0] == ids[1], "the same event twice, so that the receiver knows it")
            #expect(try await outbox.relayBatch(limit: 10) { _ in .kept } == .empty)
        }
    }

    @Test func `A batch is forgotten when it was told, and stays when it was not`() async throws {
        try await ProfileFixture.run { service in
            for number in 0..<4 { try await service.update(someone(), phone: phone(number)) }
            let outbox = PhoneOutbox(database: service.database, clock: service.clock.clock)
            let before = try await service.waitingEvents()
            let kept = try await outbox.relayBatch(limit: 3) { events in
                #expect(events.count == 3)
                return .kept
            }
            #expect(kept == .handled(eventCount: 3))
            #expect(try await service.waitingEvents() == before)
            _ = try await outbox.relayBatch(limit: 3) { _ in .delivered }
            #expect(try await service.waitingEvents() == Array(before.dropFirst(3)))
        }
    }

    @Test func `A relay that finds another at work leaves it alone`() async throws {
        try await ProfileFixture.run { service in
            try await service.update(someone(), phone: phone(1))
            let outbox = PhoneOutbox(database: service.database, clock: service.clock.clock)
            let batch = try await outbox.relayBatch(limit: 10) { events in
                let other = try? await outbox.relayBatch(limit: 10) { _ in .kept }
                #expect(other == .busy)
                return .delivered
            }
            #expect(batch == .handled(eventCount: 1))
        }
    }
}
