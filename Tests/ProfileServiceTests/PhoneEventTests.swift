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

@Suite(.serialized) struct PhoneEventTests {
    @Test func `A saved phone reaches invites, and no event is left`() async throws {
        try await ProfileFixture.run { service in
            try await service.relaying {
                let user = someone()
                try await service.update(user, phone: phone(1))
                try await service.update(user, phone: phone(2))
                try await eventually("three events are delivered") { service.invites.told.count >= 3 }
                #expect(
                    service.invites.told == [
                        "claimed \(digits(1)) \(user)", "released \(digits(1)) \(user)",
                        "claimed \(digits(2)) \(user)",
                    ]
                )
                #expect(Set(service.invites.events.map(\.eventID)).count == 3)
                try await eventually("nothing waits") {
                    try await service.count("SELECT count(*) FROM work WHERE queue = 'phone_events'") == 0
                }
            }
        }
    }

    @Test func `A phone is saved while invites is down, and delivered once it is back`() async throws {
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
                try await eventually("all is delivered") { service.invites.told.count >= 9 }
                #expect(service.invites.told == expected)
                try await eventually("nothing waits") { try await service.waitingEvents().isEmpty }
            }
        }
    }

    @Test func `Waiting events are counted, with the age of the oldest`() async throws {
        try await ProfileFixture.run { service in
            let work = service.workTable
            #expect(try await work.backlog(of: PhoneEventWork.queue) == WorkBacklog())
            try await service.update(someone(), phone: phone(1))
            service.clock.advance(milliseconds: 90_000)
            try await service.update(someone(), phone: phone(2))
            let all = WorkBacklog(waitingCount: 2, oldestAge: .seconds(90))
            #expect(try await work.backlog(of: PhoneEventWork.queue) == all)
            try await service.parkOldest()
            let rest = WorkBacklog(waitingCount: 1, parkedCount: 1)
            #expect(try await work.backlog(of: PhoneEventWork.queue) == rest, "parked work does not wait")
        }
    }

    @Test func `An event that is rejected for good is parked and delays no other number`() async throws {
        try await ProfileFixture.run { service in
            let users = (0..<4).map { _ in someone() }
            for (number, user) in users.enumerated() { try await service.update(user, phone: phone(number)) }
            service.invites.refuse(phone: "+" + digits(1))
            try await service.relaying {
                try await eventually("the others are delivered") { service.invites.told.count >= 3 }
                try await eventually("nothing waits") { try await service.waitingEvents().isEmpty }
            }
            #expect(
                service.invites.told == [0, 2, 3].map { "claimed \(digits($0)) \(users[$0])" }
            )
            let kept = try await service.database.query("SELECT key, failure FROM work WHERE queue = 'phone_events'")
            #expect(kept.count == 1)
            let (phone, rejection) = try kept[0].decode(String.self, String.self)
            #expect(phone == digits(1))
            #expect(rejection == "EVENT_INVALID")
        }
    }

    @Test func `Three replicas deliver each event once, and each number's in order`() async throws {
        try await ProfileFixture.run { service in
            let tasks = (0..<3).map { _ in
                let kind = PhoneEventWork(invites: InvitesServiceClient(InProcessChannel(Router(service.invites))))
                let runner = WorkRunner(kind, in: service.workTable, logger: .init(label: "test"))
                return Task { try await runner.run() }
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
}
