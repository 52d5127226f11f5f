import API
import RPC
import SwiftProtobuf
import Synchronization

/// Services whose answers a test decides, behind the real call layer.
final class StubServices: Sendable {
    /// The user of every good token.
    static let userID = "0190c2a5-7f00-7000-8000-000000000001"
    static let accessToken = "good.access.token"

    struct Answers: Sendable {
        var signIn: @Sendable (IdentityV1.SignInRequest) async throws -> IdentityV1.SignInResponse = { _ in
            IdentityV1.SignInResponse.with {
                $0.tokens = StubServices.tokens
                $0.isNewUser = true
                $0.suggestedDisplayName = "Maria Santos"
            }
        }
        var refresh: @Sendable (IdentityV1.RefreshRequest) async throws -> IdentityV1.RefreshResponse = { _ in
            IdentityV1.RefreshResponse.with { $0.tokens = StubServices.tokens }
        }
        var checkSession: @Sendable (IdentityV1.CheckSessionRequest) async throws -> IdentityV1.CheckSessionResponse = {
            guard $0.accessToken == StubServices.accessToken else {
                throw RPCError.domain(
                    .unauthenticated,
                    reason: "ACCESS_TOKEN_EXPIRED",
                    message: "The access token has expired."
                )
            }
            return IdentityV1.CheckSessionResponse.with { $0.userID = StubServices.userID }
        }
        var signOut: @Sendable (IdentityV1.SignOutRequest) async throws -> IdentityV1.SignOutResponse = { _ in .init() }
        var getJWKS: @Sendable (IdentityV1.GetJWKSRequest) async throws -> IdentityV1.GetJWKSResponse = { _ in
            IdentityV1.GetJWKSResponse.with {
                $0.jwksJson = #"{"keys":[]}"#
                $0.maxAgeSeconds = 600
            }
        }
        var getProfile: @Sendable (ProfileV1.GetProfileRequest) async throws -> ProfileV1.GetProfileResponse = {
            request in
            ProfileV1.GetProfileResponse.with {
                $0.profile.userID = request.userID
                $0.profile.displayName = "Maria"
                $0.profile.missingFields = ["phone_number"]
            }
        }
        var updateProfile: @Sendable (ProfileV1.UpdateProfileRequest) async throws -> ProfileV1.UpdateProfileResponse =
            {
                request in
                ProfileV1.UpdateProfileResponse.with {
                    $0.profile.userID = request.userID
                    $0.profile.displayName = request.displayName
                    $0.profile.phoneNumber = "+639171234567"
                    $0.profile.updatedAtMs = 1_769_903_999_123
                }
            }
        var createGroup: @Sendable (InvitesV1.CreateGroupRequest) async throws -> InvitesV1.CreateGroupResponse = {
            request in
            InvitesV1.CreateGroupResponse.with {
                $0.group.groupID = "g-1"
                $0.group.name = request.name
                $0.group.ownerUserID = request.userID
                $0.group.createdAtMs = 1000
            }
        }
        var addMember: @Sendable (InvitesV1.AddMemberRequest) async throws -> InvitesV1.AddMemberResponse = { request in
            InvitesV1.AddMemberResponse.with {
                $0.member.memberID = "m-1"
                $0.member.state = .pending
                $0.member.phoneNumber = request.phoneNumber
                $0.member.displayName = request.displayName
                $0.member.addedAtMs = 2000
            }
        }
        var listGroups: @Sendable (InvitesV1.ListGroupsRequest) async throws -> InvitesV1.ListGroupsResponse = { _ in
            .init()
        }
        var listMembers: @Sendable (InvitesV1.ListMembersRequest) async throws -> InvitesV1.ListMembersResponse = { _ in
            .init()
        }
        /// By gRPC service; SERVING where there is none.
        var health: [String: HealthV1.HealthCheckResponse.ServingStatus] = [:]
    }

    private let state = Mutex(
        (
            answers: Answers(), deadlines: [Deadline?](), calls: [String](), traces: [TraceContext?](),
            addresses: [String]()
        )
    )

    static let tokens = IdentityV1.SessionTokens.with {
        $0.accessToken = "at"
        $0.refreshToken = "rt"
        $0.idToken = "it"
        $0.expiresInSeconds = 900
        $0.userID = userID
        $0.sessionID = "0190c2a5-7f00-7000-8000-000000000002"
    }

    /// Changes what is answered.
    func set(_ change: (inout Answers) -> Void) { state.withLock { change(&$0.answers) } }

    /// The deadlines of the calls so far.
    var deadlines: [Deadline?] { state.withLock { $0.deadlines } }
    /// The methods called so far.
    var calls: [String] { state.withLock { $0.calls } }

    /// The trace contexts of the calls so far.
    var traces: [TraceContext?] { state.withLock { $0.traces } }

    /// The methods called so far, each with the client address that it was told.
    var clientAddresses: [String] { state.withLock { $0.addresses } }

    /// A channel to all of them.
    var channel: InProcessChannel { InProcessChannel(router) }

    /// Their methods.
    var router: Router {
        var router = Router()
        router.add(Identity(stubs: self))
        router.add(Profile(stubs: self))
        router.add(Invites(stubs: self))
        router.add(Health(stubs: self))
        return router
    }

    fileprivate func answers(_ context: ServerContext) -> Answers {
        state.withLock { state in
            state.deadlines.append(context.deadline)
            state.calls.append(context.method.method)
            state.traces.append(context.traceContext)
            let address = context.metadata.first("vestibule-client-address").map { " \($0)" } ?? ""
            state.addresses.append(context.method.method + address)
            return state.answers
        }
    }
}

private struct Identity: IdentityServiceHandler {
    let stubs: StubServices

    func signIn(
        _ request: IdentityV1.SignInRequest,
        context: ServerContext
    ) async throws -> IdentityV1.SignInResponse {
        try await stubs.answers(context).signIn(request)
    }

    func refresh(
        _ request: IdentityV1.RefreshRequest,
        context: ServerContext
    ) async throws -> IdentityV1.RefreshResponse {
        try await stubs.answers(context).refresh(request)
    }

    func checkSession(
        _ request: IdentityV1.CheckSessionRequest,
        context: ServerContext
    ) async throws -> IdentityV1.CheckSessionResponse {
        try await stubs.answers(context).checkSession(request)
    }

    func signOut(
        _ request: IdentityV1.SignOutRequest,
        context: ServerContext
    ) async throws -> IdentityV1.SignOutResponse {
        try await stubs.answers(context).signOut(request)
    }

    func getAccount(
        _ request: IdentityV1.GetAccountRequest,
        context: ServerContext
    ) async throws -> IdentityV1.GetAccountResponse {
        throw RPCError(.unimplemented, "the gateway does not ask for accounts")
    }

    func getJWKS(
        _ request: IdentityV1.GetJWKSRequest,
        context: ServerContext
    ) async throws -> IdentityV1.GetJWKSResponse {
        try await stubs.answers(context).getJWKS(request)
    }
}

private struct Profile: ProfileServiceHandler {
    let stubs: StubServices

    func getProfile(
        _ request: ProfileV1.GetProfileRequest,
        context: ServerContext
    ) async throws -> ProfileV1.GetProfileResponse {
        try await stubs.answers(context).getProfile(request)
    }

    func updateProfile(
        _ request: ProfileV1.UpdateProfileRequest,
        context: ServerContext
    ) async throws -> ProfileV1.UpdateProfileResponse {
        try await stubs.answers(context).updateProfile(request)
    }
}

private struct Invites: InvitesServiceHandler {
    let stubs: StubServices

    func createGroup(
        _ request: InvitesV1.CreateGroupRequest,
        context: ServerContext
    ) async throws -> InvitesV1.CreateGroupResponse {
        try await stubs.answers(context).createGroup(request)
    }

    func addMember(
        _ request: InvitesV1.AddMemberRequest,
        context: ServerContext
    ) async throws -> InvitesV1.AddMemberResponse {
        try await stubs.answers(context).addMember(request)
    }

    func listGroups(
        _ request: InvitesV1.ListGroupsRequest,
        context: ServerContext
    ) async throws -> InvitesV1.ListGroupsResponse {
        try await stubs.answers(context).listGroups(request)
    }

    func listMembers(
        _ request: InvitesV1.ListMembersRequest,
        context: ServerContext
    ) async throws -> InvitesV1.ListMembersResponse {
        try await stubs.answers(context).listMembers(request)
    }

    func applyPhoneEvents(
        _ request: InvitesV1.ApplyPhoneEventsRequest,
        context: ServerContext
    ) async throws -> InvitesV1.ApplyPhoneEventsResponse {
        throw RPCError(.unimplemented, "the gateway relays no events")
    }
}

private struct Health: HealthHandler {
    let stubs: StubServices

    func check(
        _ request: HealthV1.HealthCheckRequest,
        context: ServerContext
    ) async throws -> HealthV1.HealthCheckResponse {
        let status = stubs.answers(context).health[request.service] ?? .serving
        return HealthV1.HealthCheckResponse.with { $0.status = status }
    }

    func watch(
        _ request: HealthV1.HealthCheckRequest,
        responses: MessageWriter<HealthV1.HealthCheckResponse>,
        context: ServerContext
    ) async throws {
        throw RPCError(.unimplemented, "the gateway watches nobody's health")
    }
}
