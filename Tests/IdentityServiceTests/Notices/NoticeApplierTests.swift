import API
import IdentityDomain
import JOSE
import Models
import Postgres
import ServiceKit
import TestWaits
import Testing

@testable import IdentityService

/// A stored notice is applied completely and once, whatever happens meanwhile.
struct NoticeApplierTests {
    private func state(_ service: TestService) async throws -> [String] {
        let rows = try await service.database.query(
            """
            SELECT concat_ws(' ', (SELECT count(*) FROM sessions WHERE revoked_at IS NULL),
                (SELECT count(*) FROM provider_identities WHERE disabled_at IS NOT NULL),
                (SELECT count(*) FROM provider_identities WHERE tokens_from IS NOT NULL),
                (SELECT count(*) FROM security_events WHERE kind = 'provider_notice'),
                (SELECT count(*) FROM provider_notices WHERE applied_at IS NOT NULL))
            """
        )
        return try rows.map { try $0.decode(0, as: String.self) }
    }

    /// A process that ends within a transaction leaves the same state as a transaction that fails.
    @Test(arguments: [
        "UPDATE ON provider_identities", "UPDATE ON sessions", "INSERT ON revocations", "INSERT ON security_events",
        "UPDATE OF applied_at ON provider_notices",
    ])
    func `A failure at any step applies nothing, and the retry applies all of it once`(step: String) async throws {
        try await TestService.run { service in
            _ = try await service.signInWithGoogle()
            let now = service.clock.nowSeconds
            try await service.accept(.google("account-disabled", reason: "hijacking", id: "1", at: now))
            let before = try await state(service)
            #expect(before == ["1 0 0 0 0"])
            try await service.database.execute(
                """
                CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$
                """
            )
            let table = step.split(separator: " ").last.map(String.init) ?? ""
            try await service.database.execute(
                "CREATE TRIGGER fails BEFORE \(unsafeSQL: step) FOR EACH ROW EXECUTE FUNCTION fail()"
            )
            await service.notices.applyDue()
            #expect(try await state(service) == before)
            #expect(service.noticeCounts.contains("notice_failures_total 1"))
            // The retry is delayed, so that other notices don't wait.
            await service.notices.applyDue()
            #expect(service.noticeCounts.contains("notice_failures_total 1"))
            try await service.database.execute("DROP TRIGGER fails ON \(unsafeSQL: table)")
            service.pass(seconds: 2)
            await service.notices.applyDue()
            #expect(try await state(service) == ["0 1 1 1 1"])
            await service.notices.applyDue()
            #expect(try await state(service) == ["0 1 1 1 1"])
        }
    }

    @Test func `A notice stored by a process that was killed is applied by another one`() async throws {
        try await TestService.run { service in
            _ = try await service.signIn()
            try await service.accept(TestNotice(atSeconds: service.clock.nowSeconds))
            let other = NoticeApplier(
                store: service.parts.methods.store,
                revocations: service.parts.methods.revocations,
                clock: service.clock.wallClock,
                logger: TestService.silentLogger
            )
            let running = Task { await other.run() }
            try await eventually { try await service.count("provider_notices WHERE applied_at IS NULL") == 0 }
            running.cancel()
            await running.value
            #expect(try await service.count("sessions WHERE revoked_at IS NULL") == 0)
        }
    }

    @Test func `Many concurrent processes apply and store each notice once`() async throws {
        try await TestService.run { service in
            for number in 0..<20 { _ = try await service.signIn(subject: "001.\(number)") }
            let now = service.clock.nowSeconds
            try await withThrowingTaskGroup(of: Bool.self) { tasks in
                for number in 0..<60 {
                    tasks.addTask {
                        let who = number % 20
                        let notice = TestNotice(subject: "001.\(who)", identifier: "j-\(who)", atSeconds: now)
                        return try await service.accept(notice)
                    }
                }
                var fresh = 0
                for try await isKnown in tasks where !isKnown { fresh += 1 }
                #expect(fresh == 20)
            }
            await withDiscardingTaskGroup { tasks in
                for _ in 0..<4 { tasks.addTask { await service.notices.applyDue() } }
            }
            await service.notices.applyDue()
            #expect(try await service.count("sessions WHERE revoked_at IS NULL") == 0)
            #expect(try await service.count("security_events WHERE kind = 'provider_notice'") == 20)
        }
    }

    /// Notices arrive late, twice and in any order: the one with the latest time counts.
    @Test(arguments: 1...12)
    func `Whatever the order of arrival, the latest notice counts`(seed: UInt64) async throws {
        var random = SplitMix(state: seed)
        try await TestService.run { service in
            let session = try await service.signInWithGoogle()
            let count = Int(random.next() % 6) + 2
            let start = service.clock.nowSeconds
            service.pass(seconds: 30)
            var notices = (0..<count).map { number in
                TestNotice.google(
                    random.next() % 2 == 0 ? "account-disabled" : "account-enabled",
                    id: "\(number)",
                    at: start + Int64(number)
                )
            }
            let isDisabled = notices.last?.type.hasSuffix("account-disabled") == true
            notices += notices.filter { _ in random.next() % 3 == 0 }
            notices.shuffle(using: &random)
            for notice in notices {
                try await service.accept(notice)
                if random.next() % 2 == 0 { await service.notices.applyDue() }
            }
            await service.notices.applyDue()
            #expect(try await service.account(session.tokens.userID).identities.first?.disabled == isDisabled)
        }
    }

    @Test func `A concurrent sign-in is ended or refused`() async throws {
        for round in 0..<10 {
            try await TestService.run { service in
                _ = try await service.signInWithGoogle()
                service.pass(seconds: 5)
                let now = service.clock.nowSeconds
                try await service.accept(.google("account-disabled", reason: "hijacking", id: "\(round)", at: now))
                async let signedIn = try? service.signInWithGoogle()
                await service.notices.applyDue()
                _ = await signedIn
                #expect(try await service.count("sessions WHERE revoked_at IS NULL") == 0)
            }
        }
    }

    @Test func `Notices are deleted after sixty days, applied or not`() async throws {
        try await TestService.run { service in
            try await service.accept(TestNotice(atSeconds: service.clock.nowSeconds))
            service.clock.advance(seconds: ProviderNotice.rememberedSeconds - 1)
            await service.parts.cleanup.clean()
            #expect(try await service.count("provider_notices") == 1)
            service.clock.advance(seconds: 1)
            await service.parts.cleanup.clean()
            #expect(try await service.count("provider_notices") == 0)
            #expect(service.noticeCounts.contains("notices_lost_total 1"), "it was not applied")
        }
    }

    @Test func `A notice that was applied is deleted without a log entry`() async throws {
        try await TestService.run { service in
            try await service.accept(TestNotice(atSeconds: service.clock.nowSeconds))
            await service.notices.applyDue()
            service.clock.advance(seconds: ProviderNotice.rememberedSeconds)
            await service.parts.cleanup.clean()
            #expect(try await service.count("provider_notices") == 0)
            #expect(!service.noticeCounts.contains { $0.hasPrefix("notices_lost_total") })
        }
    }
}

/// A generator with a seed.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
