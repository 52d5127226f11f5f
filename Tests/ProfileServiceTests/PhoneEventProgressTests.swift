import API
import Logging
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels
import ServiceStore
import TestDatabases
import TestWaits
import Testing

@testable import ProfileService

/// Phone events are delivered whatever their receiver does.
@Suite(.serialized) struct PhoneEventProgressTests {
    @Test func `A receiver that is slow with each event gets all of them, and a poison one is parked`() async throws {
        try await ProfileFixture.run { service in
            let users = (0..<100).map { _ in someone() }
            for (number, user) in users.enumerated() { try await service.update(user, phone: phone(number)) }
            // Longer for all than a batch may take, and than a transaction may.
            service.invites.eventDelay = .milliseconds(95)
            service.invites.refuse(phone: "+" + digits(40))
            try await service.relaying {
                try await eventually("nothing waits") { try await service.waitingEvents().isEmpty }
            }
            let others = (0..<100).filter { $0 != 40 }
            // On a busy machine a batch takes longer than it may, and is delivered again.
            var seen: Set<String> = []
            let delivered = service.invites.told.filter { seen.insert($0).inserted }
            #expect(delivered == others.map { "claimed \(digits($0)) \(users[$0])" })
            #expect(try await service.count("SELECT count(*) FROM work WHERE queue = 'phone_events'") == 1)
        }
    }

    @Test func `An event that meets a bug holds up its own number, in order, and no other`() async throws {
        try await ProfileFixture.run { service in
            let (maria, juan) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            for number in 10..<30 { try await service.update(someone(), phone: phone(number)) }
            // Maria gives the number up, and Juan takes it.
            try await service.update(maria, phone: phone(2))
            try await service.update(juan, phone: phone(1))
            service.invites.breakOn(phone: "+" + digits(1))
            try await service.relaying {
                try await eventually("the others are delivered") { service.invites.told.count >= 21 }
                #expect(!service.invites.told.contains { $0.contains(digits(1)) })
                service.invites.mend()
                service.clock.advance(milliseconds: 3_600_000)
                try await eventually("nothing waits") { try await service.waitingEvents().isEmpty }
            }
            #expect(
                service.invites.told.filter { $0.contains(digits(1)) } == [
                    "claimed \(digits(1)) \(maria)", "released \(digits(1)) \(maria)", "claimed \(digits(1)) \(juan)",
                ]
            )
        }
    }

    @Test func `An event that fails each time is parked with what waits behind it, and retried when asked`()
        async throws
    {
        try await ProfileFixture.run { service in
            let (maria, juan) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            try await service.update(maria, phone: phone(2))
            try await service.update(juan, phone: phone(1))
            service.invites.breakOn(phone: "+" + digits(1))
            let runner = runner(service)
            let task = Task { try await runner.run() }
            try await eventually("it is parked") {
                service.clock.advance(milliseconds: 60_000)
                return try await backlog(service).parkedCount > 0
            }
            try await eventually("the others are delivered") { service.invites.told.count == 1 }
            task.cancel()
            try await task.value
            #expect(try await backlog(service) == WorkBacklog(parkedCount: 3))
            let list = try await service.heldWork()
            #expect(list.count == 1)
            #expect(list[0].contains("{\"kind\": \"claimed\"} of \(maria)"))
            #expect(list[0].contains("parked  tries: 16  behind it: 2  INTERNAL 16 times"))
            #expect(!list[0].contains(digits(1)))
            // However many wait behind it, so many are counted.
            try await service.database.execute(
                """
                INSERT INTO work (queue, event_id, key, user_id, created_at)
                SELECT 'phone_events', gen_random_uuid(), \(digits(1)), \(maria.uuid), now() FROM generate_series(1, 10001)
                """
            )
            #expect(try await service.heldWork()[0].contains("behind it: 10000 or more"))
            try await service.database.execute("DELETE FROM work WHERE id > (SELECT max(id) - 10001 FROM work)")

            service.invites.mend()
            let name = try #require(WorkName(String(list[0].prefix { $0 != " " })))
            let shown = try await service.work(.show(name, showsNumbers: true))
            #expect(shown.contains("user      \(maria)") && shown.contains("failure   INTERNAL 16 times"))
            #expect(shown.contains("key       \(digits(1))"))
            #expect(
                try await service.work(.show(name, showsNumbers: false)).contains("key       …\(digits(1).suffix(3))")
            )
            let none = WorkName.number(4_711)
            await #expect(throws: WorkCommandError("no work 4711 is held; 1 will be retried")) {
                try await service.work(.retry(.names([name, none])))
            }
            #expect(try await service.heldWork() == ["nothing is held"])
            try await service.relaying {
                try await eventually("nothing waits") { try await service.waitingEvents().isEmpty }
            }
            let one = digits(1)
            #expect(
                service.invites.told.filter { $0.contains(one) } == [
                    "claimed \(one) \(maria)", "released \(one) \(maria)", "claimed \(one) \(juan)",
                    "claimed \(one) \(juan)",
                ],
                "in order, and behind them who has it now"
            )
        }
    }

    @Test func `An overtaken event isn't the last one, and a discarded one frees its number`() async throws {
        try await ProfileFixture.run { service in
            let (maria, juan) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            try await service.parkOldest()
            // A version before delivered the later ones of the number all the same.
            try await service.update(maria, phone: phone(2))
            try await service.update(juan, phone: phone(1))
            try await service.database.execute("DELETE FROM work WHERE queue = 'phone_events' AND parked_at IS NULL")
            #expect(try await service.work(.retry(.all)) == ["1 will be retried"])
            let now = ["claimed \(digits(1)) \(maria)", "claimed \(digits(1)) \(juan)"]
            #expect(try await service.waitingEvents() == now)
            // Nobody has it any more.
            try await service.parkOldest()
            try await service.update(juan, phone: phone(3))
            #expect(try await service.work(.retry(.all)) == ["1 will be retried"])
            #expect(try await service.waitingEvents().last == "released \(digits(1)) \(maria)")

            let names = try await service.parkOldest()
            #expect(await service.parts.phoneEvents.round() == 1)
            #expect(service.invites.told == ["claimed \(digits(3)) \(juan)"])
            #expect(try await service.work(.discard(names)) == ["1 discarded"])
            await #expect(throws: WorkCommandError.self) { try await service.work(.discard(names)) }
            #expect(try await service.waitingEvents().last == "released \(digits(1)) \(maria)", "said behind it, too")
            #expect(await service.parts.phoneEvents.round() == 4)
            #expect(try await backlog(service) == WorkBacklog())
        }
    }

    private func backlog(_ service: ProfileFixture) async throws -> WorkBacklog {
        try await service.workTable.backlog(of: PhoneEventWork.queue)
    }

    /// A runner that hardly waits, for a clock that runs fast.
    private func runner(_ service: ProfileFixture) -> WorkRunner<PhoneEventWork> {
        var rules = service.parts.phoneEvents.kind.rules
        rules.pollInterval = .milliseconds(5)
        rules.outage = Backoff(first: .milliseconds(1), max: .milliseconds(5))
        return WorkRunner(
            service.parts.phoneEvents.kind,
            in: service.workTable,
            rules: rules,
            logger: Logger(label: "test")
        )
    }
}
