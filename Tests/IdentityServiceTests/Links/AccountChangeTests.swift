import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels
import SwiftProtobuf
import Synchronization
import Testing

@testable import IdentityService

/// How a linked or unlinked provider is reported: in the list of sessions, to webhooks, and in the stream of changes.
@Suite(.timeLimit(.minutes(5)))
struct AccountChangeTests {
    private static func changes(_ token: String, _ service: TestService) async throws -> [IdentityV1.AccountChange] {
        try await service.client.listSessions(.with { $0.accessToken = token }).recentChanges
    }

    @Test func `The list of sessions has the changes of thirty days, with their devices`() async throws {
        try await TestService.run { service in
            let phone = try await service.signIn(deviceName: "Blue phone", changes: ["jti": "1"]).tokens
            #expect(try await Self.changes(phone.accessToken, service).isEmpty)
            try await service.linkGoogle(phone.accessToken, token: service.googleToken())
            let linkedAt = service.clock.nowMilliseconds
            service.pass(seconds: 10)
            let tablet = try await service.signInAnew()
            try await service.unlink(tablet.accessToken, "google")
            // Another account's list has its own changes.
            let other = try await service.signInAnew(subject: "002.person")
            #expect(try await Self.changes(other.accessToken, service).isEmpty)
            try await service.linkGoogle(other.accessToken, token: service.googleToken("79"))

            let changes = try await Self.changes(tablet.accessToken, service)
            #expect(
                changes == [
                    .with {
                        ($0.kind, $0.provider, $0.sessionID) = ("provider_unlinked", "google", tablet.sessionID)
                        $0.occurredAtMs = linkedAt + 10_000
                    },
                    .with {
                        ($0.kind, $0.provider, $0.sessionID) = ("provider_linked", "google", phone.sessionID)
                        ($0.occurredAtMs, $0.deviceName) = (linkedAt, "Blue phone")
                    },
                ]
            )
            service.clock.advance(seconds: 30 * 86_400 - 5)
            let later = try await service.signInAnew()
            #expect(try await Self.changes(later.accessToken, service).map(\.kind) == ["provider_unlinked"])
        }
    }

    @Test func `A list is bounded, and reads no more of the log than it returns`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let user = try #require(UserID(session.userID))
            try await service.database.execute(
                """
                INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
                SELECT security_event_id(at, false), \(user.uuid), kind, at, '{"provider": "google"}'
                FROM (SELECT \(PostgresTimestamp(milliseconds: service.clock.nowMilliseconds)) - n * interval '1 second' AS at, kind
                    FROM generate_series(1, 60) n, unnest(ARRAY['provider_linked', 'session_ended', 'phone_proven']) kind) made
                """
            )
            let changes = try await Self.changes(session.accessToken, service)
            #expect(changes.count == IdentityStore.changesListedMax && Set(changes.map(\.kind)) == ["provider_linked"])
            #expect(changes.map(\.occurredAtMs) == changes.map(\.occurredAtMs).sorted(by: >))
        }
    }

    @Test func `Webhook targets are notified of links and unlinks`() async throws {
        try await TestService.run { service in
            let targets = [
                WebhookTargets.target("links", types: [.providerLinked, .providerUnlinked]),
                WebhookTargets.target("ends", types: [.accountDeleted]),
            ]
            #expect(await service.deliverer(targets, TestHTTP()).register(areNew: true))
            let session = try await service.signInAnew()
            try await service.linkGoogle(session.accessToken, token: service.googleToken())
            try await service.unlink(session.accessToken, "google")
            #expect(
                try await service.deliveries("target || ' ' || type || ' ' || data")
                    == [
                        "provider.linked", "provider.unlinked",
                    ].map {
                        #"links \#($0) {"user_id": "\#(session.userID)", "provider": "google", "session_id": "\#(session.sessionID)"}"#
                    }
            )
            let events = try await service.words(
                "SELECT event_id::text FROM security_events WHERE kind LIKE 'provider_%'"
            )
            #expect(Set(try await service.words("SELECT event_id::text FROM work")) == Set(events))
        }
    }

    @Test func `Streams report the changes made after they were opened`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            try await service.linkGoogle(session.accessToken, token: service.googleToken("before"))
            try await Replica.run(of: service) { replica in
                let told = Mutex<[IdentityV1.AccountChange]>([])
                try await replica.watch { message in
                    if message.reset { try await service.unlink(session.accessToken, "google") }
                    return told.withLock { told in
                        told += message.accountChanges
                        return told.isEmpty
                    }
                }
                #expect(
                    told.withLock { $0 } == [
                        .with {
                            ($0.userID, $0.kind, $0.provider) = (session.userID, "provider_unlinked", "google")
                            ($0.sessionID, $0.occurredAtMs) = (session.sessionID, service.clock.nowMilliseconds)
                        }
                    ]
                )
            }
        }
    }

    @Test func `Changes beyond a stream's limit are dropped, and ends of sessions are not`() async throws {
        let watcher = RevocationWatcher(number: 1, caller: "c", heartbeat: .seconds(1))
        let change = AccountChange(
            userID: UserID(high: 1, low: 1),
            kind: .providerLinked,
            occurredAtMilliseconds: 1,
            provider: "google",
            sessionID: nil
        )
        for _ in 0..<3 {
            var news = RevocationUpdate(
                position: RevocationPosition(
                    database: DatabaseIdentity(systemIdentifier: 1, timeline: 1),
                    horizon: 1,
                    madeAtSeconds: 1
                ),
                toldAtMilliseconds: 1
            )
            news.sessionIDs = [SessionID(high: 1, low: 1)]
            news.accountChanges = Array(repeating: change, count: RevocationWatcher.changesMax / 2)
            #expect(watcher.put(news))
        }
        let news = try #require(await watcher.next())
        #expect(news.accountChanges.count == RevocationWatcher.changesMax && news.sessionIDs.count == 3)
    }
}
