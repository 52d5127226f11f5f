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

/// That the outbox comes forward whatever its receiver does.
@Suite(.serialized) struct OutboxProgressTests {
    @Test func `A receiver that is slow with each event is told all of them, and a poison one is set aside`()
        async throws
    {
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
            #expect(try await service.count("SELECT count(*) FROM outbox") == 1)
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
                try await eventually("the others are told") { service.invites.told.count >= 21 }
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

    @Test func `An event that fails each time is set aside with what waits behind it, and told again when asked`()
        async throws
    {
        try await ProfileFixture.run { service in
            let (maria, juan) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            try await service.update(maria, phone: phone(2))
            try await service.update(juan, phone: phone(1))
            service.invites.breakOn(phone: "+" + digits(1))
            let outbox = PhoneOutbox(database: service.database, clock: service.clock.clock)
            let relay = relay(service)
            let task = Task { try await relay.run() }
            try await eventually("it is set aside") {
                service.clock.advance(milliseconds: 60_000)
                return try await outbox.backlog().setAsideCount > 0
            }
            try await eventually("the others are told") { service.invites.told.count == 1 }
            task.cancel()
            try await task.value
            #expect(try await outbox.backlog() == OutboxBacklog(setAsideCount: 3))
            let list = try await service.outbox(.list(limit: 10, showsNumbers: false))
            #expect(list.count == 1)
            #expect(list[0].contains("claimed …\(digits(1).suffix(3)) by \(maria)"))
            #expect(list[0].contains("set aside  INTERNAL 16 times"))
            #expect(list[0].hasSuffix("behind it: 2"))
            #expect(!list[0].contains(digits(1)))
            // However many wait behind it, so many are counted.
            try await service.database.execute(
                """
                INSERT INTO outbox (event_id, kind, phone, user_id, created_at)
                SELECT gen_random_uuid(), 'claimed', \(digits(1)), \(maria.uuid), now() FROM generate_series(1, 10001)
                """
            )
            #expect(
                try await service.outbox(.list(limit: 10, showsNumbers: false))[0].hasSuffix("behind it: 10000 or more")
            )
            try await service.database.execute("DELETE FROM outbox WHERE id > (SELECT max(id) - 10001 FROM outbox)")

            service.invites.mend()
            let name = try #require(OutboxEventName(String(list[0].prefix { $0 != " " })))
            #expect(name.receiver == "invites")
            let shown = try await service.outbox(.show(name, showsNumbers: true))
            #expect(
                shown.contains("about: claimed +\(digits(1)) by \(maria)")
                    && shown.contains("reason: INTERNAL 16 times")
            )
            let none = OutboxEventName(receiver: "invites", rowID: 4_711)
            await #expect(throws: OutboxCommandError("no event invites/4711 is held; released 1 of the others")) {
                try await service.outbox(.release([name, none]))
            }
            #expect(try await service.outbox(.list(limit: 10, showsNumbers: true)) == ["nothing is held"])
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

    @Test func `One that was overtaken doesn't have the last word, and one that is discarded frees its number`()
        async throws
    {
        try await ProfileFixture.run { service in
            let (maria, juan) = (someone(), someone())
            let outbox = PhoneOutbox(database: service.database, clock: service.clock.clock)
            try await service.update(maria, phone: phone(1))
            _ = try await outbox.relayBatch(limit: 1) { _ in .setAside(reason: "BAD") }
            // A version before told the later ones of the number all the same.
            try await service.update(maria, phone: phone(2))
            try await service.update(juan, phone: phone(1))
            try await service.database.execute("DELETE FROM outbox WHERE rejected_at IS NULL")
            #expect(try await service.outbox(.release(nil)) == ["released 1"])
            let now = ["claimed \(digits(1)) \(maria)", "claimed \(digits(1)) \(juan)"]
            #expect(try await service.waitingEvents() == now)
            // Nobody has it any more.
            _ = try await outbox.relayBatch(limit: 1) { _ in .setAside(reason: "BAD") }
            try await service.update(juan, phone: phone(3))
            #expect(try await service.outbox(.release(nil)) == ["released 1"])
            #expect(try await service.waitingEvents().last == "released \(digits(1)) \(maria)")

            let held = try await outbox.relayBatch(limit: 1) { _ in .setAside(reason: "BAD") }
            #expect(held == .handled(eventCount: 1))
            let others = try await outbox.relayBatch(limit: 100) { events in
                #expect(events.map(\.event.phone.digits) == [digits(3)])
                return .delivered
            }
            #expect(others == .handled(eventCount: 1))
            let ids = try await service.database.query("SELECT id FROM outbox WHERE rejected_at IS NOT NULL")
            let name = OutboxEventName(receiver: "invites", rowID: try ids[0].decode(0, as: Int64.self))
            #expect(try await service.outbox(.discard([name])) == ["discarded 1"])
            await #expect(throws: OutboxCommandError.self) { try await service.outbox(.discard([name])) }
            #expect(try await service.waitingEvents().last == "released \(digits(1)) \(maria)", "said behind it, too")
            #expect(try await outbox.relayBatch(limit: 100) { _ in .delivered } == .handled(eventCount: 4))
            #expect(try await outbox.backlog() == OutboxBacklog())
        }
    }

    /// A relay that hardly waits, for a clock that runs fast.
    private func relay(_ service: ProfileFixture) -> OutboxRelay<PhoneOutbox> {
        let delivery = PhoneEventDelivery(invites: InvitesServiceClient(InProcessChannel(Router(service.invites))))
        var configuration = OutboxRelay<PhoneOutbox>.Configuration()
        configuration.pollInterval = .milliseconds(5)
        configuration.backoff = Backoff(first: .milliseconds(1), max: .milliseconds(5))
        return OutboxRelay(
            store: PhoneOutbox(database: service.database, clock: service.clock.clock),
            configuration: configuration,
            logger: Logger(label: "test"),
            deliver: { try await delivery.deliver($0) }
        )
    }

    /// The relay holds its row for as long as a delivery takes, and that is when somebody looks.
    @Test func `An operator's command waits for the relay longer than statements wait elsewhere`() async throws {
        let facts = try await TestDatabase.fresh(schema: "profile", hasOwner: true)
        try await ProfileFixture.run(on: facts, lockTimeout: .milliseconds(100)) { service in
            let (isHeld, tell) = AsyncStream.makeStream(of: Void.self)
            async let relay: Void = service.database.withTransaction(deadline: .after(.seconds(30))) { transaction in
                try await transaction.query("SELECT 1 FROM outbox_relay FOR UPDATE")
                tell.finish()
                try await Task.sleep(for: .milliseconds(500))
            }
            for await _ in isHeld {}
            #expect(try await service.outbox(.release(nil)) == ["released 0"])
            try await relay
        }
    }
}
