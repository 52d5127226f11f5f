import API
import IdentityDomain
import Models
import OutgoingHTTP
import Postgres
import ServiceKit
import TestWaits
import Testing

@testable import IdentityService

/// Targets that are added and removed, and what is deleted.
struct WebhookUpkeepTests {
    @Test func `The replica that was started last decides which events a target gets`() async throws {
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

    @Test func `A target that was removed is deleted after an hour, and its waiting deliveries are parked`()
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
            #expect(
                try await service.deliveries("concat_ws(' ', target, failure)") == ["crm no replica serves this target"]
            )
            service.clock.advance(seconds: 30 * 86_400 - 1)
            await service.parts.cleanup.clean()
            #expect(try await service.count("work WHERE queue LIKE 'webhooks.%'") == 1)
            service.clock.advance(seconds: 1)
            await service.parts.cleanup.clean()
            #expect(try await service.count("work WHERE queue LIKE 'webhooks.%'") == 0)
        }
    }

    @Test func `Deliveries of a configured target are never parked by cleaning up`() async throws {
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

    @Test func `A stopped target is reported`() async throws {
        try await TestService.run { service in
            let target = WebhookTargets.target()
            let deliverer = service.deliverer([target, WebhookTargets.target("other")], TestHTTP())
            #expect(await deliverer.register(areNew: true))
            try await service.parts.methods.store.stop(target, nowMilliseconds: service.clock.nowMilliseconds)
            let watching = Task { await deliverer.metrics.watch() }
            try await eventually("it is reported") {
                var text = MetricsText()
                deliverer.metrics.write(to: &text)
                return text.text.contains("vestibule_identity_webhooks_stopped{target=\"crm\"} 1\n")
                    && text.text.contains("vestibule_identity_webhooks_stopped{target=\"other\"} 0\n")
            }
            watching.cancel()
            await watching.value
        }
    }

    @Test func `All parked events are retried, in many transactions`() async throws {
        try await TestService.run { service in
            try await service.database.execute(
                """
                INSERT INTO work (queue, event_id, created_at, due_at, parked_at, failure, tries)
                SELECT CASE WHEN number % 5 = 0 THEN 'webhooks.other' ELSE 'webhooks.crm' END, gen_random_uuid(), at, at, at, 'x', 20
                FROM generate_series(1, 5000) number, (SELECT timestamptz '2026-01-01' AS at) moment
                """
            )
            #expect(try await service.work(.retry(.queue("webhooks.crm"))) == ["4000 will be retried"])
            let rows = "SELECT DISTINCT concat_ws(' ', queue, tries, failure) FROM work ORDER BY 1"
            #expect(try await service.words(rows) == ["webhooks.crm 0", "webhooks.other 20 x"])
            #expect(try await service.work(.retry(.all)) == ["1000 will be retried"])
        }
    }
}
