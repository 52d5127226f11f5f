import API
import APIDoubles
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// `/auth/sessions` and `/auth/sign-out-everywhere`.
struct SessionRouteTests {
    private let gateway = TestGateway()
    private let id = "0190c2a5-7f00-7000-8000-000000000009"

    private static let session = IdentityV1.Session.with {
        ($0.sessionID, $0.deviceName, $0.provider) = ("0190c2a5-7f00-7000-8000-000000000009", "Blue phone", "apple")
        ($0.createdAtMs, $0.lastUsedAtMs, $0.isCurrent) = (1_769_903_999_123, 1_769_904_000_000, true)
    }
    private static let json: JSONObject = [
        "id": "0190c2a5-7f00-7000-8000-000000000009", "device_name": "Blue phone", "provider": "apple",
        "created_at": "2026-01-31T23:59:59.123Z", "last_used_at": "2026-02-01T00:00:00.000Z", "current": true,
    ]

    @Test func `The sessions are listed in identity's order`() async throws {
        let seen = Mutex<[IdentityV1.ListSessionsRequest]>([])
        gateway.stubs.identity.set {
            $0.listSessions = { request, _ in
                seen.withLock { $0.append(request) }
                return .with {
                    $0.sessions = [
                        Self.session,
                        .with {
                            ($0.sessionID, $0.provider) = (StubServices.tokens.sessionID, "google")
                            $0.lastUsedAtMs = 1
                        },
                    ]
                    $0.recentChanges = [
                        .with {
                            ($0.kind, $0.provider, $0.occurredAtMs) = ("provider_linked", "google", 1_769_903_999_123)
                            ($0.sessionID, $0.deviceName) = (Self.session.sessionID, "Blue phone")
                        }, .with { $0.kind = "other" },
                    ]
                }
            }
        }
        let answer = try await gateway.sendAsUser(.get, "/auth/sessions")
        #expect(answer.status == 200)
        let other: JSONObject = [
            "id": .string(StubServices.tokens.sessionID), "device_name": .null, "provider": "google",
            "created_at": "1970-01-01T00:00:00.000Z", "last_used_at": "1970-01-01T00:00:00.001Z", "current": false,
        ]
        let changes: [JSONValue] = [
            [
                "kind": "provider_linked", "provider": "google", "occurred_at": "2026-01-31T23:59:59.123Z",
                "session_id": "0190c2a5-7f00-7000-8000-000000000009", "device_name": "Blue phone",
            ],
            [
                "kind": "other", "provider": .null, "occurred_at": "1970-01-01T00:00:00.000Z", "session_id": .null,
                "device_name": .null,
            ],
        ]
        #expect(
            answer.body == [
                "sessions": [.object(Self.json), .object(other)], "recent_changes": .array(changes),
                "deletes_at": .null,
            ]
        )
        #expect(seen.withLock { $0 } == [.with { $0.accessToken = StubServices.accessToken }])
        #expect(gateway.stubs.calls == ["CheckSession", "ListSessions"])
    }

    @Test func `A scheduled deletion is in the list of sessions`() async throws {
        gateway.stubs.identity.set { $0.listSessions = { _, _ in .with { $0.deletesAtMs = 1_769_903_999_123 } } }
        let answer = try await gateway.sendAsUser(.get, "/auth/sessions")
        #expect(answer.body == ["sessions": [], "recent_changes": [], "deletes_at": "2026-01-31T23:59:59.123Z"])
        let listed = try await AppClients(gateway).auth.listSessions(.init(), options: AppClients.asUser)
        #expect(listed.deletesAt == .init(seconds: 1_769_903_999, nanos: 123_000_000))
    }

    @Test func `A session is renamed and returned`() async throws {
        let seen = Mutex<[IdentityV1.RenameSessionRequest]>([])
        gateway.stubs.identity.set {
            $0.renameSession = { request, _ in
                seen.withLock { $0.append(request) }
                return .with { $0.session = Self.session }
            }
        }
        let answer = try await gateway.sendAsUser(.patch, "/auth/sessions/\(id)", #"{"device_name":"Blue phone"}"#)
        #expect(answer.status == 200 && answer.body == Self.json)
        #expect(
            seen.withLock { $0 } == [
                .with { ($0.accessToken, $0.sessionID, $0.deviceName) = (StubServices.accessToken, id, "Blue phone") }
            ]
        )
        for body in ["{}", #"{"device_name":""}"#, #"{"device_name":null}"#, #"{"device_name":7}"#] {
            let refused = try await gateway.sendAsUser(.patch, "/auth/sessions/\(id)", body)
            #expect(refused.status == 400 && refused.fields == ["device_name"], "\(body)")
        }
        #expect(seen.withLock { $0.count } == 1)
    }

    @Test func `A name that identity refuses is reported as an invalid field`() async throws {
        gateway.stubs.identity.set {
            $0.renameSession = { _, _ in
                throw RPCError.domain(
                    .invalidArgument,
                    reason: "DEVICE_NAME_INVALID",
                    message: "The device name must have at most 50 characters.",
                    field: "device_name"
                )
            }
        }
        let answer = try await gateway.sendAsUser(.patch, "/auth/sessions/\(id)", #"{"device_name":"long"}"#)
        #expect(answer.status == 422 && answer.code == "DEVICE_NAME_INVALID" && answer.fields == ["device_name"])
    }

    @Test func `A session is ended`() async throws {
        let seen = Mutex<[IdentityV1.EndSessionRequest]>([])
        gateway.stubs.identity.set {
            $0.endSession = { request, _ in
                seen.withLock { $0.append(request) }
                return .init()
            }
        }
        let answer = try await gateway.sendAsUser(.delete, "/auth/sessions/\(id)")
        #expect(answer.status == 204 && answer.body.members.isEmpty)
        #expect(seen.withLock { $0 } == [.with { ($0.accessToken, $0.sessionID) = (StubServices.accessToken, id) }])
    }

    @Test func `Another user's session is not found`() async throws {
        let refusal = RPCError.domain(.notFound, reason: "SESSION_NOT_FOUND", message: "There is no such session.")
        gateway.stubs.identity.set {
            $0.endSession = { _, _ in throw refusal }
            $0.renameSession = { _, _ in throw refusal }
        }
        for (method, body) in [(HTTPRequest.Method.delete, nil), (.patch, #"{"device_name":"Mine"}"#)] {
            let answer = try await gateway.sendAsUser(method, "/auth/sessions/\(id)", body)
            #expect(answer.status == 404 && answer.code == "SESSION_NOT_FOUND")
            #expect(answer.headers[.wwwAuthenticate] == nil)
        }
    }

    @Test func `Signing out everywhere ends all sessions, or all but the current one`() async throws {
        let seen = Mutex<[IdentityV1.SignOutRequest]>([])
        gateway.stubs.identity.set {
            $0.signOut = { request, _ in
                seen.withLock { $0.append(request) }
                return .init()
            }
        }
        for body in [nil, "{}", #"{"except_current":null}"#, #"{"except_current":false}"#, #"{"except_current":true}"#]
        {
            let answer = try await gateway.sendAsUser(.post, "/auth/sign-out-everywhere", body)
            #expect(answer.status == 204)
        }
        let scopes: [IdentityV1.SignOutScope] = [.everywhere, .everywhere, .everywhere, .everywhere, .others]
        #expect(seen.withLock { $0.map(\.scope) } == scopes)
        #expect(seen.withLock { $0.allSatisfy { $0.accessToken == StubServices.accessToken } })
        // Identity recognizes a repetition.
        #expect(!gateway.stubs.calls.contains("CheckSession"))
        let wrong = try await gateway.sendAsUser(.post, "/auth/sign-out-everywhere", #"{"except_current":"yes"}"#)
        #expect(wrong.status == 400 && wrong.fields == ["except_current"])
        #expect(try await gateway.send(.post, "/auth/sign-out-everywhere").code == "AUTHENTICATION_REQUIRED")
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "/auth/sessions"), (.patch, "/auth/sessions/x"), (.delete, "/auth/sessions/x"),
    ])
    func `Each route needs a live session`(method: HTTPRequest.Method, path: String) async throws {
        #expect(try await gateway.send(method, path).code == "AUTHENTICATION_REQUIRED")
        let refused = try await gateway.send(method, path, token: "expired")
        #expect(refused.status == 401 && refused.code == "ACCESS_TOKEN_EXPIRED")
        #expect(gateway.stubs.calls == ["CheckSession"])
    }

    @Test func `An account's changes are limited, and an address's requests like sign-ins`() async throws {
        var policy = RateLimit.Policy()
        policy.changes = RequestRate(perSecond: 0.001, burst: 2)
        let few = TestGateway(rateLimit: policy)
        few.stubs.identity.set {
            $0.endSession = { _, _ in .init() }
            $0.listSessions = { _, _ in .init() }
        }
        for status in [204, 204, 429] {
            #expect(try await few.sendAsUser(.delete, "/auth/sessions/\(id)").status == status)
        }
        #expect(try await few.sendAsUser(.get, "/auth/sessions").status == 200)
        policy.auth = RequestRate(perSecond: 0.001, burst: 1)
        let fewer = TestGateway(rateLimit: policy)
        fewer.stubs.identity.set { $0.listSessions = { _, _ in .init() } }
        #expect(try await fewer.sendAsUser(.get, "/auth/sessions").status == 200)
        #expect(try await fewer.sendAsUser(.get, "/auth/sessions").status == 429)
    }
}
