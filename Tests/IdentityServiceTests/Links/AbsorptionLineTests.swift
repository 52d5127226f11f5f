import API
import IdentityDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import Testing

@testable import IdentityService

/// Absorptions that nobody goes on with wait in a line.
struct AbsorptionLineTests {
    @Test func `An absorption that fails waits behind the others, longer each time, and is counted`() async throws {
        try await AbsorptionTests.run { service, apple, _ in
            try await service.database.execute("ALTER TABLE work ADD CONSTRAINT broken CHECK (false) NOT VALID")
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            }
            // The lease of the call, then 10 s after the first failure, 20 after the second, 40 after the third.
            for (seconds, failures) in [(11, 1), (11, 2), (11, 2), (11, 3), (30, 3), (11, 4)] {
                service.pass(seconds: Int64(seconds))
                await service.parts.methods.absorber.round()
                #expect(service.absorptionMetric("failures_total") == Double(failures))
            }
            #expect(service.absorptionMetric("s_oldest_seconds").map { $0 >= 85 } == true)
            try await service.database.execute("ALTER TABLE work DROP CONSTRAINT broken")
            service.pass(seconds: 81)
            await service.parts.methods.absorber.round()
            #expect(try await service.count("absorptions") == 0)
            #expect(try await service.count("accounts") == 1)
            #expect(service.absorptionMetric("s_oldest_seconds") == 0)
        }
    }

    @Test func `Each is taken when its turn has come, and its lease begins then`() async throws {
        try await TestService.run { service in
            let store = service.parts.methods.store
            let now = service.clock.nowMilliseconds
            for age in [30, 20, 10] {
                try await service.database.execute(
                    """
                    INSERT INTO absorptions (absorption_id, absorbed, absorber, asker, fingerprints, state, may_turn, begun_at, held_until)
                    SELECT gen_random_uuid(), one, gen_random_uuid(), one, '{}', 'asking', true, at, at
                    FROM (SELECT gen_random_uuid() AS one, \(PostgresTimestamp(milliseconds: now - Int64(age) * 1000)) AS at) AS made
                    """
                )
            }
            let first = try #require(try await store.takeAbsorption(nowMilliseconds: now))
            // Working on it took its whole time.
            let later = now + IdentityStore.absorptionLeaseMilliseconds - 1
            let second = try #require(try await store.takeAbsorption(nowMilliseconds: later))
            let third = try #require(try await store.takeAbsorption(nowMilliseconds: later))
            #expect(try await store.takeAbsorption(nowMilliseconds: later) == nil)
            #expect(Set([first.id, second.id, third.id]).count == 3)
            #expect(try await store.takeAbsorption(nowMilliseconds: later + 1)?.id == first.id)
            #expect(try await store.takeAbsorption(nowMilliseconds: later + 2) == nil, "the others are at theirs")
        }
    }
}

extension TestService {
    /// What absorptions say by a metric.
    fileprivate func absorptionMetric(_ name: String) -> Double? {
        var text = MetricsText()
        parts.methods.absorber.metrics.write(to: &text)
        let prefix = "vestibule_identity_absorption\(name.hasPrefix("s_") ? "" : "_")\(name) "
        return text.text.split(separator: "\n").first { $0.hasPrefix(prefix) }.flatMap {
            Double($0.dropFirst(prefix.count))
        }
    }
}
