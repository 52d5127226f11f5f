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

/// Other services are notified of closed accounts.
struct ClosingWorkTests {
    private static let waiting = "work WHERE queue LIKE 'closings.%'"

    private func table(_ service: TestService) -> WorkTable {
        WorkTable(service.database) { service.clock.nowMilliseconds }
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
        let table = table(service)
        let all = (0..<replicas).flatMap { _ in
            service.parts.closings.map { WorkRunner($0.kind, in: table, logger: TestService.silentLogger) }
        }
        let tasks = all.map { runner in Task { try await runner.run() } }
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

    @Test func `Both services are notified, also by two replicas`() async throws {
        try await TestService.run { service in
            try await relaying(service, replicas: 2) {
                let closed = try await closeSome(service, 12)
                try await eventually("all is delivered") { try await service.count(Self.waiting) == 0 }
                #expect(Set(service.others.closed(at: "profile")) == closed)
                #expect(Set(service.others.closed(at: "invites")) == closed)
                #expect(try await done(service).allSatisfy { $0 == "profile invites" })
            }
        }
    }

    @Test(arguments: [Status.Code.unavailable, .internalError, .unimplemented])
    func `A service that fails delays no other, and is notified once it is back`(code: Status.Code) async throws {
        try await TestService.run { service in
            service.others.fail("profile", code)
            try await relaying(service) {
                let closed = try await closeSome(service, 3)
                try await eventually("invites is notified") { service.others.closed(at: "invites").count >= 3 }
                try await eventually("the confirmations are stored") {
                    try await done(service) == ["invites", "invites", "invites"]
                }
                #expect(service.others.closed(at: "profile").isEmpty)
                service.others.fail("profile", nil)
                // Past the retry delays of single events, which go by this clock.
                service.clock.advance(seconds: 3_600)
                try await eventually("profile is notified") { Set(service.others.closed(at: "profile")) == closed }
                try await eventually("all is delivered") { try await service.count(Self.waiting) == 0 }
            }
        }
    }

    @Test func `A closing is never parked, however often its delivery fails`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            try await service.delete(session.accessToken)
            service.others.fail("profile", .invalidArgument)
            for _ in 0..<40 {
                for runner in service.parts.closings { await runner.round() }
                service.clock.advance(seconds: 3_600)
            }
            #expect(try await service.count("work WHERE tries = 40 AND parked_at IS NULL") == 1)
            #expect(try await done(service) == ["invites"])
        }
    }

    @Test func `If a process dies after the answer another one retries, and nothing is confirmed too early`()
        async throws
    {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let userID = try await service.check(session.accessToken).userID
            try await service.delete(session.accessToken)
            let runner = try #require(service.parts.closings.first { $0.kind.receiver == .profile })
            // The statement after the answer fails, as if the process were gone.
            let table = "account_closings"
            try await service.database.execute(
                "ALTER TABLE \(unsafeSQL: table) ADD CONSTRAINT broken CHECK (profile_done_at IS NULL)"
            )
            await runner.round()
            #expect(service.others.closed(at: "profile") == [userID])
            #expect(try await done(service) == [""])
            #expect(try await service.count(Self.waiting) == 2)
            try await service.database.execute("ALTER TABLE \(unsafeSQL: table) DROP CONSTRAINT broken")
            await runner.round()
            #expect(service.others.closed(at: "profile") == [userID], "leased")
            service.clock.advance(seconds: 15)
            await runner.round()
            #expect(service.others.closed(at: "profile") == [userID, userID])
            #expect(try await done(service) == ["profile"])
            #expect(try await service.count(Self.waiting) == 1)
        }
    }

    @Test func `A closing is remembered until a month after all services have confirmed it`() async throws {
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
                try await eventually("all is delivered") { try await service.count(Self.waiting) == 0 }
            }
            service.clock.advance(seconds: 29 * 86_400)
            #expect(try await forgotten() == 0)
            service.clock.advance(seconds: 86_400)
            #expect(try await forgotten() == 1)
        }
    }

    @Test func `Waiting work is measured for each service`() async throws {
        try await TestService.run { service in
            service.others.fail("invites", .unavailable)
            try await relaying(service) {
                _ = try await closeSome(service, 2)
                let runners = service.parts.closings
                let watching = Task {
                    await withTaskGroup(of: Void.self) { group in
                        for runner in runners { group.addTask { await runner.watch() } }
                    }
                }
                try await eventually("two wait for invites") {
                    var text = MetricsText()
                    WorkMetricsList(runners.map(\.metrics)).write(to: &text)
                    return text.text.contains("vestibule_work_waiting{queue=\"closings.invites\"} 2\n")
                        && text.text.contains("vestibule_work_waiting{queue=\"closings.profile\"} 0\n")
                }
                watching.cancel()
                await watching.value
            }
        }
    }
}
