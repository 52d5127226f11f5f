import API
import APIDoubles
import HTTPTypes
import Logging
import RPC
import ServiceKit
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// What all RPCs of apps have in common.
struct AppCallTests {
    private let gateway = TestGateway()

    /// A policy with the given limits only, which never refill during a test.
    private static func policy(
        address: Double = 1e6,
        auth: Double = 1e6,
        account: Double = 1e6,
        changes: Double = 1e6
    ) -> RateLimit.Policy {
        func rate(_ burst: Double) -> RequestRate { RequestRate(perSecond: 0.01, burst: burst) }
        return .init(address: rate(address), auth: rate(auth), account: rate(account), changes: rate(changes))
    }

    @Test func `Every method of every service is implemented`() throws {
        let router = try gateway.gateway.router(timeLimit: .seconds(1), logger: Logger(label: "test"))
        let methods = AppCallMetrics.methods + HealthMethods.all
        #expect(router.methods.map(\.descriptor.path).sorted() == methods.map(\.path).sorted())
        let package = "vestibule.app.v1."
        let own = ["Auth", "Account", "Group", "Key"].map { "\(package)\($0)Service" }
        #expect(router.services == Set(own + [HealthMethods.serviceName]))
    }

    @Test func `Reflection is available if it is enabled`() throws {
        let logger = Logger(label: "test")
        let router = try gateway.gateway.router(timeLimit: .seconds(1), logger: logger, reflection: true)
        #expect(router.services.contains("grpc.reflection.v1.ServerReflection"))
    }

    @Test func `No request has a field for a user`() {
        let requests: [any Message.Type] = [
            AppV1.SignInWithProviderRequest.self, AppV1.CreateChallengeRequest.self,
            AppV1.CreateGuestChallengeRequest.self, AppV1.SignInAsGuestRequest.self, AppV1.AbsorbGuestRequest.self,
            AppV1.RefreshSessionRequest.self,
            AppV1.SignOutRequest.self, AppV1.SignOutEverywhereRequest.self, AppV1.ListSessionsRequest.self,
            AppV1.RenameSessionRequest.self, AppV1.EndSessionRequest.self,
            AppV1.ListProvidersRequest.self, AppV1.LinkProviderRequest.self, AppV1.UnlinkProviderRequest.self,
            AppV1.CreatePasskeyChallengeRequest.self, AppV1.SignInWithPasskeyRequest.self,
            AppV1.CreatePasskeyRegistrationRequest.self, AppV1.AddPasskeyRequest.self,
            AppV1.ListPasskeysRequest.self, AppV1.RenamePasskeyRequest.self, AppV1.RemovePasskeyRequest.self,
            AppV1.CreateRecoveryCodesRequest.self, AppV1.GetRecoveryCodesRequest.self,
            AppV1.CreateRecoveryChallengeRequest.self, AppV1.RecoverAccountRequest.self,
            AppV1.GetMeRequest.self,
            AppV1.UpdateMeRequest.self, AppV1.CheckUsernameRequest.self, AppV1.ProvePhoneRequest.self,
            AppV1.DeleteMeRequest.self, AppV1.CancelDeletionRequest.self,
            AppV1.CreateGroupRequest.self,
            AppV1.ListGroupsRequest.self, AppV1.AddMemberRequest.self, AppV1.ListMembersRequest.self,
            AppV1.AddMembersRequest.self, AppV1.GetGroupRequest.self, AppV1.UpdateGroupRequest.self,
            AppV1.DeleteGroupRequest.self, AppV1.RemoveMemberRequest.self, AppV1.LeaveGroupRequest.self,
            AppV1.SetMemberRoleRequest.self, AppV1.HandOverGroupRequest.self,
            AppV1.ListMyInvitationsRequest.self, AppV1.AcceptInvitationRequest.self,
            AppV1.DeclineInvitationRequest.self, AppV1.ConfirmMemberRequest.self, AppV1.ListPendingRequest.self,
            AppV1.CreateGroupLinkRequest.self, AppV1.ListGroupLinksRequest.self, AppV1.RevokeGroupLinkRequest.self,
            AppV1.PreviewGroupLinkRequest.self, AppV1.JoinByLinkRequest.self, AppV1.BlockInviterRequest.self,
            AppV1.UnblockInviterRequest.self, AppV1.ListBlockedInvitersRequest.self,
            AppV1.WatchGroupsRequest.self, AppV1.GetKeySetRequest.self,
        ]
        #expect(requests.count == AppCallMetrics.methods.count)
        for request in requests {
            #expect(throws: JSONDecodingError.self) { try request.init(jsonString: #"{"userId":"u"}"#) }
        }
    }

    @Test func `Too many sign-ins from an address are rejected with a wait, by RPC and by route`() async throws {
        let gateway = TestGateway(rateLimit: Self.policy(auth: 3))
        let clients = try AppClients(gateway)
        #expect(try await gateway.send(.post, "/auth/refresh", #"{"refresh_token":"r"}"#).status == 200)
        _ = try await clients.auth.refreshSession(.with { $0.refreshToken = "r" })
        _ = try await clients.auth.signInWithProvider(.with { $0.provider = "apple" })
        let error = try await refusal {
            _ = try await clients.auth.signOut(.with { $0.refreshToken = "r" })
        }
        #expect(error.code == .resourceExhausted && error.reason == "RATE_LIMITED")
        // 100 s for a token, less the time that the test has taken so far.
        let wait = try #require(error.retryAfter)
        #expect(.seconds(1) ... .seconds(100) ~= wait)
        #expect(try await gateway.send(.post, "/auth/refresh", #"{"refresh_token":"r"}"#).status == 429)
        _ = try await clients.account.getMe(.init(), options: AppClients.asUser)
        #expect(gateway.stubs.calls.filter { $0 == "Refresh" || $0 == "SignIn" || $0 == "SignOut" }.count == 3)
    }

    @Test func `Every method counts for its address's limit`() async throws {
        let gateway = TestGateway(rateLimit: Self.policy(address: 2))
        let clients = try AppClients(gateway)
        _ = try await clients.keys.getKeySet(.init())
        _ = try await clients.account.getMe(.init(), options: AppClients.asUser)
        for call in [
            { _ = try await clients.keys.getKeySet(.init()) },
            { _ = try await clients.groups.listGroups(.init(), options: AppClients.asUser) },
        ] {
            let error = try await refusal(of: call)
            #expect(error.reason == "RATE_LIMITED")
        }
        #expect(gateway.stubs.calls.count == 3)
    }

    @Test func `An account's changes are limited, and so are its calls`() async throws {
        let gateway = TestGateway(rateLimit: Self.policy(changes: 2))
        let clients = try AppClients(gateway)
        let changes: [() async throws -> Void] = [
            { _ = try await clients.account.updateMe(.init(), options: AppClients.asUser) },
            { _ = try await clients.groups.addMember(.init(), options: AppClients.asUser) },
            { _ = try await clients.groups.createGroup(.init(), options: AppClients.asUser) },
        ]
        try await changes[0]()
        try await changes[1]()
        #expect(try await refusal(of: changes[2]).reason == "RATE_LIMITED")
        #expect(try await refusal(of: changes[0]).reason == "RATE_LIMITED")
        // Reading is still allowed; by a route no further change is.
        _ = try await clients.groups.listGroups(.init(), options: AppClients.asUser)
        #expect(try await gateway.sendAsUser(.patch, "/me", "{}").status == 429)
        let few = TestGateway(rateLimit: Self.policy(account: 1))
        let account = try AppClients(few).account
        _ = try await account.getMe(.init(), options: AppClients.asUser)
        let error = try await refusal { _ = try await account.getMe(.init(), options: AppClients.asUser) }
        #expect(error.code == .resourceExhausted && error.reason == "RATE_LIMITED")
    }

    @Test func `A call has an id, which services get, and continues the client's trace`() async throws {
        let clients = try AppClients(gateway)
        let metadata = ResponseMetadata()
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        var options = AppClients.options(
            "Bearer \(StubServices.accessToken)",
            ["x-request-id": "app-1", "traceparent": "00-\(trace)-00f067aa0ba902b7-01"]
        )
        options.responseMetadata = metadata
        _ = try await clients.account.getMe(.init(), options: options)
        #expect(metadata.trailing?.first("x-request-id") == "app-1")
        #expect(gateway.stubs.traces.count == 2)
        #expect(gateway.stubs.traces.allSatisfy { $0?.traceID == trace && $0?.isSampled == true })
        // An id that could forge log lines is ignored.
        var hostile = AppClients.options(nil, ["x-request-id": "a b"])
        let made = ResponseMetadata()
        hostile.responseMetadata = made
        _ = try await clients.keys.getKeySet(.init(), options: hostile)
        let id = try #require(made.trailing?.first("x-request-id"))
        #expect(id.utf8.count == 32 && id != "a b")
    }

    @Test func `Services get the time that is left`() async throws {
        let start = Deadline.now()
        _ = try await AppClients(gateway, timeLimit: .seconds(7)).account.getMe(.init(), options: AppClients.asUser)
        let least = Deadline.after(.seconds(7))
        #expect(gateway.stubs.deadlines.allSatisfy { $0.map { start < $0 && $0 <= least } == true })
        var short = AppClients.asUser
        short.deadline = .after(.seconds(5))
        _ = try await AppClients(gateway, timeLimit: .seconds(7)).account.getMe(.init(), options: short)
        #expect(gateway.stubs.deadlines.suffix(2).allSatisfy { $0.map { $0 <= Deadline.after(.seconds(5)) } == true })
    }

    @Test(arguments: [
        (
            RPCError(.internalError, "secret"), Status.Code.internalError, "INTERNAL",
            "Something went wrong on our side."
        ),
        (RPCError(.unknown, "secret"), .internalError, "INTERNAL", "Something went wrong on our side."),
        (RPCError(.deadlineExceeded, "secret"), .deadlineExceeded, "DEADLINE_EXCEEDED", "This took too long."),
        (RPCError(.invalidArgument, "secret"), .invalidArgument, "INVALID_ARGUMENT", "The request was refused."),
        (RPCError(.permissionDenied, "secret"), .permissionDenied, "PERMISSION_DENIED", "This is not allowed."),
        (RPCError(.aborted, "secret"), .aborted, "ABORTED", "This conflicts"),
        (RPCError(.unimplemented, "secret"), .unimplemented, "UNIMPLEMENTED", "This is not available here."),
        (
            RPCError.domain(.notFound, reason: "GROUP_NOT_FOUND", message: "There is no such group."),
            .notFound, "GROUP_NOT_FOUND", "There is no such group."
        ),
        (
            RPCError.domain(.unknown, reason: "OUTCOME_UNKNOWN", message: "secret"),
            .internalError, "OUTCOME_UNKNOWN", "It is not known whether this was done."
        ),
    ])
    func `Only errors meant for users reach the client`(
        error: RPCError,
        code: Status.Code,
        reason: String,
        message: String
    ) async throws {
        gateway.stubs.groups.set { $0.listGroups = { _, _ in throw error } }
        let told = try await refusal {
            _ = try await AppClients(gateway).groups.listGroups(.init(), options: AppClients.asUser)
        }
        #expect(told.code == code && told.reason == reason && told.message.hasPrefix(message))
        // The same by the route.
        #expect(try await gateway.sendAsUser(.get, "/groups").code == reason)
    }

    @Test func `A call is logged in one line without personal data`() async throws {
        let lines = LogLines()
        let clients = try AppClients(gateway, logger: lines.logger)
        _ = try await clients.account.updateMe(
            .with { $0.phoneNumber = "+639171234567" },
            options: AppClients.options("Bearer \(StubServices.accessToken)", ["x-request-id": "app-1"])
        )
        _ = try await refusal { _ = try await clients.account.getMe(.init()) }
        let all = lines.all
        #expect(all.count == 2)
        #expect(all[0].contains("/vestibule.app.v1.AccountService/UpdateMe") && all[0].contains("code=OK"))
        #expect(all[0].contains("request_id=app-1") && all[0].contains("trace="))
        #expect(all[1].contains("code=UNAUTHENTICATED") && all[1].contains("reason=AUTHENTICATION_REQUIRED"))
        #expect(!all.joined().contains("639171234567") && !all.joined().contains(StubServices.accessToken))
    }

    @Test func `Calls are counted by method and status, also those with a count of zero`() async throws {
        let clients = try AppClients(gateway)
        _ = try await clients.account.getMe(.init(), options: AppClients.asUser)
        _ = try await refusal { _ = try await clients.account.getMe(.init()) }
        let text = clients.metrics.text
        func calls(_ method: String, _ code: String, _ count: Int) -> Bool {
            let labels = #"method="vestibule.app.v1.\#(method)",code="\#(code)""#
            return text.contains("vestibule_rpc_server_calls_total{\(labels)} \(count)\n")
        }
        #expect(calls("AccountService/GetMe", "OK", 1) && calls("AccountService/GetMe", "UNAUTHENTICATED", 1))
        #expect(calls("AuthService/SignOut", "OK", 0))
        let timed = #"method="vestibule.app.v1.AccountService/GetMe"} 2"#
        #expect(text.contains("vestibule_rpc_server_call_duration_seconds_count{\(timed)"))
    }
}

/// Collects log lines.
private final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

    private struct Handler: LogHandler {
        let lines: LogLines
        var logLevel = Logger.Level.info
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let facts = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
            let line = facts.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            lines.lines.withLock { $0.append("\(event.message) \(line)") }
        }
    }
}
