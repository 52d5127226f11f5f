import API
import Models
import Postgres
import RPC
import RPCTransport
import ServiceKit
import ServiceStore
import TestWaits
import Testing

@testable import IdentityService

/// What other services are told of closed accounts.
struct ClosingRelayTests {
    private func outbox(_ service: TestService, to receiver: ClosingReceiver) -> ClosingOutbox {
        let clock = service.clock.wallClock
        return ClosingOutbox(
            database: service.database,
            rows: ClosingRows(to: receiver, clock: clock),
            nowMilliseconds: { clock.nowMilliseconds }
        )
    }

    /// Which services have confirmed each closing.
    private func done(_ service: TestService) async throws -> [String] {
        try await service.words(
            """
            SELECT concat_ws(' ', CASE WHEN profile_done_at IS NOT NULL THEN 'profile' END,
                CASE WHEN invites_done_at IS NOT NULL THEN 'invites' END) FROM account_closings ORDER BY closed_at
            """
        )
    }

    private func relaying(_ service: TestService, replicas: Int = 1, _ body: () async throws -> Void) async throws {
        var all: [ClosingRelays] = [service.parts.closings]
        for _ in 1..<replicas {
            all.append(
                ClosingRelays(
                    database: service.database,
                    profile: service.others.profile,
                    invites: service.others.invites,
                    clock: service.clock.wallClock,
                    logger: TestService.silentLogger
                )
            )
        }
        let tasks = all.flatMap(\.relays).map { relay in Task { try await relay.run() } }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        for task in tasks { task.cancel() }
        for task in tasks { try await task.value }
        try result.get()
    }

    private func closeSome(_ service: TestService, _ count: Int) async throws -> Set<String> {
        var closed: Set<String> = []
        for index in 0..<count {
            let session = try await service.signInAnew(subject: "person-\(index)")
            closed.insert(try await service.check(session.accessToken).userID)
            try await service.delete(session.accessToken)
        }
        return closed
    }

    @Test func `Both services are told, by two replicas too`() async throws {
        try await TestService.run { service in
            try await relaying(service, replicas: 2) {
                let closed = try await closeSome(service, 12)
                try await eventually("all is told") { try await service.count("outbox") == 0 }
                #expect(Set(service.others.closed(at: "profile")) == closed)
                #expect(Set(service.others.closed(at: "invites")) == closed)
                #expect(try await done(service).allSatisfy { $0 == "profile invites" })
            }
        }
    }

    @Test(arguments: [Status.Code.unavailable, .internalError, .unimplemented])
    func `A service that fails holds up nobody else, and is told when it is back`(code: Status.Code) async throws {
        try await TestService.run { service in
            service.others.fail("profile", code)
            try await relaying(service) {
                let closed = try await closeSome(service, 3)
                try await eventually("invites is told") { service.others.closed(at: "invites").count >= 3 }
                try await eventually("it is written down") {
                    try await done(service) == ["invites", "invites", "invites"]
                }
                #expect(service.others.closed(at: "profile").isEmpty)
                service.others.fail("profile", nil)
                // Past the waits of single events, which go by this clock.
                service.clock.advance(seconds: 3_600)
                try await eventually("profile is told") { Set(service.others.closed(at: "profile")) == closed }
                try await eventually("all is told") { try await service.count("outbox") == 0 }
            }
        }
    }

    @Test func `However often a service fails on it, a closing is never set aside`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            try await service.delete(session.accessToken)
            service.others.fail("profile", .invalidArgument)
            let delivery = ClosingDelivery(service.others.profile)
            let told = try await service.words("SELECT user_id::text FROM outbox")
            let userID = try #require(told.first.flatMap { UserID($0) })
            do {
                try await delivery.deliver([.init(userID: userID, failureCount: 40)])
                Issue.record("nothing was refused")
            } catch let setback as OutboxSetback {
                #expect(!setback.isEventAtFault)
            }
        }
    }

    @Test func `A relay that dies after the answer tells again, and nothing is lost or confirmed too early`()
        async throws
    {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let userID = try await service.check(session.accessToken).userID
            try await service.delete(session.accessToken)
            let outbox = outbox(service, to: .profile)
            let delivery = ClosingDelivery(service.others.profile)
            let deliver: @Sendable ([ClosingRows.Event]) async -> OutboxVerdict = { events in
                do { try await delivery.deliver(events) } catch { return .kept }
                return .delivered
            }
            // The transaction ends with an error behind the answer, as if the process were gone.
            let table = "account_closings"
            try await service.database.execute(
                "ALTER TABLE \(unsafeSQL: table) ADD CONSTRAINT broken CHECK (profile_done_at IS NULL)"
            )
            await #expect(throws: PostgresError.self) { try await outbox.relayBatch(limit: 10, deliver: deliver) }
            #expect(service.others.closed(at: "profile") == [userID])
            #expect(try await done(service) == [""])
            #expect(try await service.count("outbox") == 2)
            try await service.database.execute("ALTER TABLE \(unsafeSQL: table) DROP CONSTRAINT broken")
            #expect(try await outbox.relayBatch(limit: 10, deliver: deliver) == .handled(eventCount: 1))
            #expect(service.others.closed(at: "profile") == [userID, userID])
            #expect(try await done(service) == ["profile"])
            #expect(try await outbox.relayBatch(limit: 10, deliver: deliver) == .empty)
            #expect(try await self.outbox(service, to: .invites).backlog().eventCount == 1)
        }
    }

    @Test func `A closing is known until a month after all services have confirmed it`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            try await service.delete(session.accessToken)
            let store = service.parts.methods.store
            func forgotten() async throws -> Int {
                try await store.forgetClosings(nowMilliseconds: service.clock.nowMilliseconds, limit: 10)
            }
            service.clock.advance(seconds: 90 * 86_400)
            #expect(try await forgotten() == 0, "nobody has confirmed it")
            try await relaying(service) {
                try await eventually("all is told") { try await service.count("outbox") == 0 }
            }
            service.clock.advance(seconds: 29 * 86_400)
            #expect(try await forgotten() == 0)
            service.clock.advance(seconds: 86_400)
            #expect(try await forgotten() == 1)
        }
    }

    @Test func `What waits is measured for each service`() async throws {
        try await TestService.run { service in
            service.others.fail("invites", .unavailable)
            try await relaying(service) {
                _ = try await closeSome(service, 2)
                let watching = Task { await service.parts.closings.watch() }
                try await eventually("one waits") {
                    var text = MetricsText()
                    OutboxMetricsList(service.parts.closings.metrics).write(to: &text)
                    return text.text.contains("vestibule_outbox_depth{receiver=\"invites\"} 2\n")
                        && text.text.contains("vestibule_outbox_depth{receiver=\"profile\"} 0\n")
                        && text.text.contains("vestibule_outbox_delivered_total{receiver=\"profile\"} 2\n")
                }
                watching.cancel()
                await watching.value
            }
        }
    }
}
