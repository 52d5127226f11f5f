import API
import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import Postgres
import RPC
import ServiceKit
import Synchronization
import Testing

@testable import IdentityService
@testable import ServiceStore

/// Deliveries to webhook targets, and their outcomes.
struct WebhookDeliveryTests {
    private static func answer(_ status: Int, _ headers: [OutgoingRequest.Field] = []) -> OutgoingResponse {
        OutgoingResponse(status: status, headers: headers, body: [])
    }

    @Test func `Without a target nothing is written, and with one only the events it wants`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            try await service.signOut(accessToken: session.accessToken)
            #expect(try await service.count("work WHERE queue LIKE 'webhooks.%'") == 0)
            let targets = [
                WebhookTargets.target("all"), WebhookTargets.target("ends", types: [.accountDeleted]),
            ]
            #expect(await service.deliverer(targets, TestHTTP()).register(areNew: true))
            _ = try await service.signInAnew()
            #expect(try await service.count("work WHERE queue LIKE 'webhooks.%'") == 0, "an existing account")
            let new = try await service.signInAnew(subject: "002.person")
            #expect(try await service.deliveries() == ["all account.created"])
            try await service.delete(new.accessToken)
            #expect(
                Set(try await service.deliveries()) == [
                    "all account.created", "all session.ended", "all account.deleted", "ends account.deleted",
                ]
            )
        }
    }

    @Test
    func `A message has the event's id, time and ids, no personal data, and a signature for each secret`()
        async throws
    {
        try await TestService.run { service in
            let http = TestHTTP()
            http.answer { _ throws(OutgoingHTTPError) in Self.answer(204) }
            let other = "whsec_" + String(repeating: "QUJD", count: 8)
            let secrets = [WebhookSecret(WebhookTargets.secret), WebhookSecret(other)].compactMap(\.self)
            let target = WebhookTargets.target(secrets: secrets)
            let deliverer = service.deliverer([target], http)
            #expect(await deliverer.register(areNew: true))
            let session = try await service.signIn(fullName: "Ada Lovelace")
            let userID = try await service.check(session.tokens.accessToken).userID
            try await service.signOut(accessToken: session.tokens.accessToken)
            await deliverer.round(target)
            #expect(try await service.count("work WHERE queue LIKE 'webhooks.%'") == 0)

            #expect(http.requests.count == 2)
            let created = try #require(http.requests.first { $0.bodyText.contains("account.created") })
            let ended = try #require(http.requests.first { $0.bodyText.contains("session.ended") })
            let json = try JSONObject(parsing: Array(created.bodyText.utf8), limits: JSONLimits(bytesMax: 4_096))
            #expect(json.members.map(\.name) == ["type", "timestamp", "data"])
            #expect(json["timestamp"]?.string == "2027-01-15T08:00:00.000Z")
            let data = try #require(json["data"]?.object)
            #expect(Set(data.members.map(\.name)) == ["user_id", "provider", "client_id"])
            #expect(data["user_id"]?.string == userID && data["provider"]?.string == "apple")
            #expect(ended.bodyText.contains(session.tokens.sessionID) && ended.bodyText.contains("\"sign_out\""))
            let events = try await service.words(
                "SELECT event_id::text FROM security_events WHERE kind IN ('signed_in', 'session_ended')"
            )
            #expect(Set(http.requests.compactMap { $0.header("webhook-id") }) == Set(events))
            for request in http.requests {
                #expect(request.url == target.url && request.reach == .publicAddresses && request.body == .dropped)
                let id = try #require(request.header("webhook-id"))
                let signatures = secrets.map {
                    $0.signature(id: id, timestamp: service.clock.nowSeconds, body: Array(request.bodyText.utf8))
                }
                #expect(request.header("webhook-signature") == signatures.joined(separator: " "))
                #expect(request.header("webhook-timestamp") == "\(service.clock.nowSeconds)")
                #expect(!request.bodyText.contains("Ada") && !request.bodyText.contains("@"))
            }
        }
    }

    @Test func `Each kind of session end has its reason, and the end of all is sent once`() async throws {
        try await TestService.run { service in
            let target = WebhookTargets.target(types: [.sessionEnded, .accountDeleted])
            #expect(await service.deliverer([target], TestHTTP()).register(areNew: true))
            let stolen = try await service.signInAnew()
            let second = try await service.refresh(stolen.refreshToken)
            let third = try await service.refresh(second.tokens.refreshToken)
            _ = try await service.refresh(third.tokens.refreshToken)
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_REUSED") {
                _ = try await service.refresh(stolen.refreshToken)
            }
            let other = try await service.signInAnew(subject: "002.person")
            let userID = try await service.check(other.accessToken).userID
            try await service.remove(userID)
            _ = try await service.parts.methods.store.endSessions(
                .begunBefore(milliseconds: 1_700_000_000_000),
                count: 1,
                service.clock.wallClock
            )
            let told = try await service.deliveries("concat_ws(' ', type, user_id::text, data->>'reason')")
            #expect(
                Set(told) == [
                    "session.ended \(try await service.check(service.signInAnew().accessToken).userID) reuse",
                    "session.ended \(userID) account_deleted", "account.deleted \(userID) operator",
                    "session.ended end_all",
                ]
            )
        }
    }

    @Test func `A failed delivery is retried for three days, then parked, and replayed with the same id`()
        async throws
    {
        try await TestService.run { service in
            let http = TestHTTP()
            http.answer { _ throws(OutgoingHTTPError) in Self.answer(500) }
            let target = WebhookTargets.target()
            let deliverer = service.deliverer([target], http)
            #expect(await deliverer.register(areNew: true))
            _ = try await service.signInAnew()
            for _ in 0..<60 {
                await deliverer.round(target)
                service.clock.advance(seconds: 3 * 3_600)
            }
            let parked = "concat_ws(' ', tries, failure, parked_at - created_at >= interval '3 days')"
            #expect(try await service.deliveries(parked) == ["\(http.requests.count) status 500 t"])
            #expect((18...30).contains(http.requests.count))
            http.answer { _ throws(OutgoingHTTPError) in Self.answer(200) }
            let id = try #require(http.requests.first?.header("webhook-id"))
            let name = try #require(WorkName(id))
            let listed = try await service.work(
                .list(queue: "webhooks.crm", includesWaiting: false, limit: 10, showsNumbers: false)
            )
            #expect(
                listed.count == 1 && listed[0].contains("  webhooks.crm  ") && listed[0].contains("account.created")
            )
            #expect(try await service.work(.show(name, showsNumbers: false)).contains("failure   status 500"))
            #expect(try await service.work(.retry(.names([name]))) == ["1 will be retried"])
            await #expect(throws: WorkCommandError.self) { try await service.work(.retry(.names([name]))) }
            await deliverer.round(target)
            #expect(try await service.count("work WHERE queue LIKE 'webhooks.%'") == 0)
            #expect(Set(http.requests.compactMap { $0.header("webhook-id") }) == [id])
        }
    }

    @Test func `A target that answers 410 gets nothing until a replay or the start of a replica`() async throws {
        try await TestService.run { service in
            let http = TestHTTP()
            http.answer { _ throws(OutgoingHTTPError) in Self.answer(410) }
            let (target, other) = (WebhookTargets.target(), WebhookTargets.target("other"))
            let deliverer = service.deliverer([target, other], http)
            #expect(await deliverer.register(areNew: true))
            _ = try await service.signInAnew()
            await deliverer.round(target)
            #expect(
                try await service.deliveries("concat_ws(' ', target, parked_at IS NOT NULL)") == ["crm t", "other f"]
            )
            _ = try await service.signInAnew(subject: "002.person")
            http.answer { _ throws(OutgoingHTTPError) in Self.answer(200) }
            #expect(await deliverer.register(areNew: false))
            await deliverer.round(target)
            #expect(http.requests.count == 1)
            await deliverer.round(other)
            #expect(
                try await service.deliveries("concat_ws(' ', target, parked_at IS NOT NULL)") == ["crm f", "crm t"]
            )

            let store = service.parts.methods.store
            _ = try await service.work(.retry(.queue("webhooks.crm")))
            await deliverer.round(target)
            #expect(try await service.count("work WHERE queue LIKE 'webhooks.%'") == 0)
            try await store.stop(target, nowMilliseconds: service.clock.nowMilliseconds)
            #expect(await service.deliverer([target], http).register(areNew: true))
            _ = try await service.signInAnew(subject: "003.person")
            await deliverer.round(target)
            #expect(try await service.deliveries() == ["other account.created"])
        }
    }

    @Test func `A killed replica's deliveries are made by another, and its late failure changes nothing`()
        async throws
    {
        try await TestService.run { service in
            let http = TestHTTP()
            http.answer { _ throws(OutgoingHTTPError) in Self.answer(200) }
            let target = WebhookTargets.target()
            let deliverer = service.deliverer([target], http)
            #expect(await deliverer.register(areNew: true))
            _ = try await service.signInAnew()
            let runner = deliverer.runners[0]
            let work = WorkTable(service.database) { service.clock.nowMilliseconds }
            let killed = try await work.claim(runner.kind, runner.kind.rules, limit: 8)
            let first = try #require(killed.entries.first)
            await deliverer.round(target)
            #expect(http.requests.isEmpty, "the other replica's lease isn't over")
            service.clock.advance(seconds: 60)
            let second = try await work.claim(runner.kind, runner.kind.rules, limit: 8)
            #expect(second.entries.first?.id == first.id && second.entries.first?.tries == 2)
            // The first replica continues after a long pause.
            try await work.park([first.id], reason: "late", leasedUntil: killed.leasedUntil)
            try await work.postpone(first.id, by: .seconds(1), reason: "late", leasedUntil: killed.leasedUntil)
            try await work.release([first.id], leasedUntil: killed.leasedUntil)
            #expect(try await service.deliveries("concat_ws(' ', tries, failure, parked_at)") == ["2"])
            service.clock.advance(seconds: 60)
            await deliverer.round(target)
            #expect(http.requests.map { $0.header("webhook-id") } == [first.item.id])
            #expect(try await service.count("work WHERE queue LIKE 'webhooks.%'") == 0)
        }
    }

    @Test func `Several concurrent replicas deliver each of many events once`() async throws {
        try await TestService.run { service in
            let http = TestHTTP()
            http.answer { _ throws(OutgoingHTTPError) in Self.answer(200) }
            let target = WebhookTargets.target()
            let deliverers = (0..<3).map { _ in service.deliverer([target], http) }
            #expect(await deliverers[0].register(areNew: true))
            let count = 200
            _ = try await service.makeSessions(count)
            try await withThrowingTaskGroup { tasks in
                for deliverer in deliverers { tasks.addTask { await deliverer.run() } }
                for _ in 0..<6_000 where try await service.count("work WHERE queue LIKE 'webhooks.%'") > 0 {
                    try await Task.sleep(for: .milliseconds(10))
                }
                tasks.cancelAll()
            }
            #expect(http.requests.count == count)
            #expect(Set(http.requests.compactMap { $0.header("webhook-id") }).count == count)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A target that never answers delays no other, and its requests are limited`() async throws {
        try await TestService.run { service in
            let gate = TestGate()
            let http = TestHTTP()
            http.answer { request throws(OutgoingHTTPError) in
                if request.url.contains("slow.") { await gate.wait() }
                if Task.isCancelled { throw OutgoingHTTPError(.cancelled, mayHaveBeenSent: true) }
                return Self.answer(200)
            }
            let targets = [WebhookTargets.target("slow"), WebhookTargets.target("fast")]
            let deliverer = service.deliverer(targets, http)
            #expect(await deliverer.register(areNew: true))
            _ = try await service.makeSessions(100)
            let running = Task { await deliverer.run() }
            for _ in 0..<6_000 where http.requests.count < 100 + WebhookWork.atOnceMax {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(http.requests.filter { $0.url.contains("fast.") }.count == 100)
            #expect(http.requests.filter { $0.url.contains("slow.") }.count == WebhookWork.atOnceMax)
            gate.open()
            for _ in 0..<6_000 where try await service.count("work WHERE queue LIKE 'webhooks.%'") > 0 {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(http.requests.count == 200)
            running.cancel()
            await running.value
        }
    }
}
