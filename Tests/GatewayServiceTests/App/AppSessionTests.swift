import API
import APIDoubles
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// The sessions of `vestibule.app.v1.AuthService`.
struct AppSessionTests {
    private let gateway = TestGateway()

    @Test func `The user's sessions are listed`() async throws {
        gateway.stubs.identity.set {
            $0.listSessions = { request, _ in
                #expect(request.accessToken == StubServices.accessToken)
                return .with {
                    $0.sessions = [
                        .with {
                            ($0.sessionID, $0.deviceName, $0.provider) = ("s", "Blue phone", "apple")
                            ($0.createdAtMs, $0.lastUsedAtMs, $0.isCurrent) = (1_001, 2_000, true)
                        }
                    ]
                }
            }
        }
        let sessions = try await AppClients(gateway).auth.listSessions(.init(), options: AppClients.asUser).sessions
        #expect(
            sessions == [
                .with {
                    ($0.sessionID, $0.deviceName, $0.provider, $0.isCurrent) = ("s", "Blue phone", "apple", true)
                    $0.createdAt = Google_Protobuf_Timestamp(seconds: 1, nanos: 1_000_000)
                    $0.lastUsedAt = Google_Protobuf_Timestamp(seconds: 2)
                }
            ]
        )
    }

    @Test func `A session is renamed and ended by its id`() async throws {
        let seen = Mutex<[String]>([])
        gateway.stubs.identity.set {
            $0.renameSession = { request, _ in
                seen.withLock { $0.append("\(request.accessToken) \(request.sessionID) \(request.deviceName)") }
                return .with { ($0.session.sessionID, $0.session.deviceName) = ("s", "Phone") }
            }
            $0.endSession = { request, _ in
                seen.withLock { $0.append("\(request.accessToken) \(request.sessionID)") }
                throw RPCError.domain(.notFound, reason: "SESSION_NOT_FOUND", message: "There is no such session.")
            }
        }
        let auth = try AppClients(gateway).auth
        let renamed = try await auth.renameSession(
            .with { ($0.sessionID, $0.deviceName) = ("s", "Phone") },
            options: AppClients.asUser
        )
        #expect(renamed.session.deviceName == "Phone")
        let refused = try await refusal {
            _ = try await auth.endSession(.with { $0.sessionID = "t" }, options: AppClients.asUser)
        }
        #expect(refused.code == .notFound && refused.reason == "SESSION_NOT_FOUND")
        let token = StubServices.accessToken
        #expect(seen.withLock { $0 } == ["\(token) s Phone", "\(token) t"])
    }

    @Test func `Signing out everywhere ends all sessions, or all but the current one`() async throws {
        let seen = Mutex<[IdentityV1.SignOutRequest]>([])
        gateway.stubs.identity.set {
            $0.signOut = { request, _ in
                seen.withLock { $0.append(request) }
                return .init()
            }
        }
        let auth = try AppClients(gateway).auth
        _ = try await auth.signOutEverywhere(.init(), options: AppClients.asUser)
        _ = try await auth.signOutEverywhere(.with { $0.exceptCurrent = true }, options: AppClients.asUser)
        let token = StubServices.accessToken
        #expect(
            seen.withLock { $0 } == [
                .with { ($0.accessToken, $0.scope) = (token, .everywhere) },
                .with { ($0.accessToken, $0.scope) = (token, .others) },
            ]
        )
    }

    @Test func `Each method needs a token`() async throws {
        let auth = try AppClients(gateway).auth
        let calls: [() async throws -> Void] = [
            { _ = try await auth.listSessions(.init()) }, { _ = try await auth.renameSession(.init()) },
            { _ = try await auth.endSession(.init()) }, { _ = try await auth.signOutEverywhere(.init()) },
        ]
        for call in calls {
            let error = try await refusal(of: call)
            #expect(error.code == .unauthenticated && error.reason == "AUTHENTICATION_REQUIRED")
        }
        #expect(gateway.stubs.calls.isEmpty)
    }
}
