import API
import IdentityDomain
import Models
import OutgoingHTTP
import Postgres
import ServiceKit
import Testing

@testable import IdentityService

/// Targets that come and go, and what is forgotten.
struct WebhookUpkeepTests {
    @Test func `The replica that was started last says what a target is told`() async throws {
        try await TestService.run { service in
            let (old, new) = (
                WebhookTargets.target(types: [.sessionEnded]), WebhookTargets.target(types: [.accountCreated])
            )
            #expect(await service.deliverer([old], TestHTTP()).register(areNew: true))
            #expect(await service.deliverer([new], TestHTTP()).register(areNew: true))
            #expect(await service.deliverer([old], TestHTTP()).register(areNew: false))
            let session = try await service.signInAnew()
            try await service.signOut(accessToken: session.accessToken)
            #expect(try await service.deliveries() == ["crm account.created"])
        }
    }

    @Test func `A target that nobody has configured is forgotten after an hour, and what waits for it is parked`()
        async throws
    {
        try await TestService.run { service in
            let target = WebhookTargets.target()
            let deliverer = service.deliverer([target], TestHTTP())
            #expect(await deliverer.register(areNew: true))
            _ = try await service.signInAnew()
            service.clock.advance(seconds: 3_599)
            await service.parts.cleanup.clean()
            #expect(try await service.count("webhook_targets") == 1)
            service.clock.advance(seconds: 1)
            await service.parts.cleanup.clean()
            #expect(try await service.count("webhook_targets") == 0)
            _ = try await service.signInAnew(subject: "002.person")
            #expect(try await service.deliveries("concat_ws(' ', target, parked_at)") == ["crm"])
            service.clock.advance(seconds: 3 * 86_400)
            await service.parts.cleanup.clean()
            #expect(try await service.deliveries("concat_ws(' ', target, failure)") == ["crm nobody tells this target"])
            service.clock.advance(seconds: 30 * 86_400 - 1)
            await service.parts.cleanup.clean()
            #expect(try await service.count("webhook_deliveries") == 1)
            service.clock.advance(seconds: 1)
            await service.parts.cleanup.clean()
            #expect(try await service.count("webhook_deliveries") == 0)
        }
    }

    @Test func `What waits for a target that is there is never parked by cleaning up`() async throws {
        try await TestService.run { service in
            let target = WebhookTargets.target()
            let deliverer = service.deliverer([target], TestHTTP())
            #expect(await deliverer.register(areNew: true))
            _ = try await service.signInAnew()
            service.clock.advance(seconds: 10 * 86_400)
            #expect(await deliverer.register(areNew: false))
            await service.parts.cleanup.clean()
            #expect(try await service.deliveries("concat_ws(' ', target, parked_at)") == ["crm"])
        }
    }

    @Test func `What waits, is parked and stopped is measured, and counting is bounded`() async throws {
        try await TestService.run { service in
            let target = WebhookTargets.target()
            let deliverer = service.deliverer([target, WebhookTargets.target("other")], TestHTTP())
            #expect(await deliverer.register(areNew: true))
            let now = service.clock.nowMilliseconds
            try await service.database.execute(
                """
                INSERT INTO webhook_deliveries (event_id, target, type, occurred_at, data, tried_from, next_at, parked_at)
                SELECT gen_random_uuid(), 'crm', 'session.ended', at, '{}', at - number * interval '1 second', at,
                    CASE WHEN number > 10 THEN at END
                FROM generate_series(1, 12000) number, (SELECT \(PostgresTimestamp(milliseconds: now)) AS at) moment
                """
            )
            try await service.parts.methods.store.stop(target, nowMilliseconds: now)
            let watching = Task { await deliverer.watch() }
            var text = MetricsText()
            for _ in 0..<6_000 {
                text = MetricsText()
                deliverer.metrics.write(to: &text)
                if text.text.contains("webhooks_waiting{target=\"other\"}") { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            watching.cancel()
            await watching.value
            for line in [
                "webhooks_waiting{target=\"crm\"} 10", "webhooks_oldest_seconds{target=\"crm\"} 10",
                "webhooks_parked{target=\"crm\"} 10001", "webhooks_stopped{target=\"crm\"} 1",
                "webhooks_waiting{target=\"other\"} 0", "webhooks_stopped{target=\"other\"} 0",
                "webhook_tries_total{target=\"crm\",outcome=\"delivered\"} 0",
            ] {
                #expect(text.text.contains("vestibule_identity_\(line)\n"), "\(line)")
            }
        }
    }

    @Test func `All parked events are told again, in many transactions`() async throws {
        try await TestService.run { service in
            try await service.database.execute(
                """
                INSERT INTO webhook_deliveries (event_id, target, type, occurred_at, data, tried_from, next_at, parked_at, tries)
                SELECT gen_random_uuid(), CASE WHEN number % 5 = 0 THEN 'other' ELSE 'crm' END, 'session.ended', at, '{}', at, at, at, 20
                FROM generate_series(1, 5000) number, (SELECT timestamptz '2026-01-01' AS at) moment
                """
            )
            let store = service.parts.methods.store
            #expect(
                try await WebhooksCommand.replay(nil, target: "crm").run(store, clock: service.clock.wallClock)
                    == ["4000 will be retried"]
            )
            #expect(
                try await service.words(
                    "SELECT DISTINCT concat_ws(' ', target, tries) FROM webhook_deliveries ORDER BY 1"
                )
                    == ["crm 0", "other 20"]
            )
            #expect(
                try await WebhooksCommand.replay(nil, target: nil).run(store, clock: service.clock.wallClock)
                    == ["1000 will be retried"]
            )
        }
    }
}
