import API
import APIDoubles
import RPC
import SwiftProtobuf
import Synchronization

/// Stubs of the services behind a gateway, with the real call layer. Each call succeeds, until a test sets another
/// answer.
final class StubServices: Sendable {
    /// The user of every valid token.
    static let userID = "0190c2a5-7f00-7000-8000-000000000001"
    static let accessToken = "good.access.token"

    static let tokens = IdentityV1.SessionTokens.with {
        $0.accessToken = "at"
        $0.refreshToken = "rt"
        $0.idToken = "it"
        $0.expiresInSeconds = 900
        $0.userID = userID
        $0.sessionID = "0190c2a5-7f00-7000-8000-000000000002"
    }

    /// That user's caller proof for each service; the services reject calls that need a proof and lack it.
    static let proofs = IdentityV1.CallerProofs.with {
        $0.identity = "proof-to-identity"
        $0.profile = "proof-to-profile"
        $0.invites = "proof-to-invites"
    }

    let identity = IdentityServiceDouble(.usual)
    let oauth = OAuthServiceDouble()
    let profile = ProfileServiceDouble(.usual)
    let groups = GroupServiceDouble(.usual)
    let invites = InvitesServiceDouble()
    let health = HealthDouble(.usual)
    private let record = CallRecord()

    /// Makes one service, by its gRPC name, report that it doesn't serve.
    func stopServing(_ service: String) {
        health.set { answers in
            answers.check = { request, _ in
                .with { $0.status = request.service == service ? .notServing : .serving }
            }
        }
    }

    /// The deadlines of the calls so far.
    var deadlines: [Deadline?] { record.calls.map(\.deadline) }
    /// The methods called so far.
    var calls: [String] { record.calls.map(\.method) }
    /// The trace contexts of the calls so far.
    var traces: [TraceContext?] { record.calls.map(\.trace) }
    /// The methods called so far, each with the client address it received.
    var clientAddresses: [String] {
        record.calls.map { call in call.method + (call.clientAddress.map { " \($0)" } ?? "") }
    }

    /// A channel to all of them.
    var channel: InProcessChannel { InProcessChannel(router) }

    /// Their methods.
    var router: Router {
        var router = Router(interceptors: [record])
        router.add(identity)
        router.add(oauth)
        router.add(profile)
        router.add(groups)
        router.add(invites)
        router.add(health)
        return router
    }
}

/// Records the calls that services receive, in order.
private final class CallRecord: ServerInterceptor {
    struct Call: Sendable {
        let method: String
        let deadline: Deadline?
        let trace: TraceContext?
        let clientAddress: String?
    }

    private let noted = Mutex<[Call]>([])

    var calls: [Call] { noted.withLock { $0 } }

    func intercept<Request: Message, Response: Message>(
        _ request: Request,
        _ context: ServerContext,
        next: @Sendable (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        let call = Call(
            method: context.method.method,
            deadline: context.deadline,
            trace: context.traceContext,
            clientAddress: context.metadata.first("vestibule-client-address")
        )
        noted.withLock { $0.append(call) }
        try Self.checkProof(context)
        return try await next(request, context)
    }

    /// Rejects a call without identity's proof for this service, as the services do.
    private static func checkProof(_ context: ServerContext) throws {
        let proof = context.metadata.first("vestibule-caller-proof")
        let wanted =
            switch context.method.service {
            case IdentityServiceMethods.serviceName: StubServices.proofs.identity
            case ProfileServiceMethods.serviceName: StubServices.proofs.profile
            default: StubServices.proofs.invites
            }
        guard proof == nil || proof == wanted else {
            throw RPCError.domain(.unauthenticated, reason: "CALLER_PROOF_INVALID", message: "of another service")
        }
        guard proof != nil || !forPersons.contains(context.method) else {
            throw RPCError.domain(.unauthenticated, reason: "CALLER_PROOF_REQUIRED", message: "without a proof")
        }
    }

    /// The methods that need a proof.
    private static let forPersons = Set(
        GroupServiceMethods.all + [
            IdentityServiceMethods.getAccount, IdentityServiceMethods.updateUserMetadata,
            ProfileServiceMethods.getProfile,
            ProfileServiceMethods.updateProfile, ProfileServiceMethods.batchGetProfiles,
            ProfileServiceMethods.setAvatar,
        ]
    )
}

extension IdentityServiceDouble.Answers {
    /// Every sign-in succeeds, and one access token is valid.
    fileprivate static var usual: Self {
        var answers = Self()
        answers.signIn = { _, _ in
            .with {
                $0.tokens = StubServices.tokens
                $0.isNewUser = true
                $0.suggestedDisplayName = "Maria Santos"
                $0.callerProofs = StubServices.proofs
            }
        }
        answers.refresh = { _, _ in
            .with {
                $0.tokens = StubServices.tokens
                $0.callerProofs = StubServices.proofs
            }
        }
        answers.checkSession = { request, _ in
            guard request.accessToken == StubServices.accessToken else {
                throw RPCError.domain(
                    .unauthenticated,
                    reason: "ACCESS_TOKEN_EXPIRED",
                    message: "The access token has expired."
                )
            }
            return .with {
                $0.userID = StubServices.userID
                $0.callerProofs = StubServices.proofs
            }
        }
        answers.signOut = { _, _ in .init() }
        answers.getJWKS = { _, _ in
            .with {
                $0.jwksJson = #"{"keys":[]}"#
                $0.maxAgeSeconds = 600
                $0.issuer = "https://api.example.com"
            }
        }
        return answers
    }
}

extension ProfileServiceDouble.Answers {
    /// Every user has a name and lacks a number.
    fileprivate static var usual: Self {
        var answers = Self()
        answers.getProfile = { _, _ in
            .with {
                $0.profile.userID = StubServices.userID
                $0.profile.displayName = "Maria"
                $0.profile.missingFields = ["phone_number"]
            }
        }
        answers.updateProfile = { request, _ in
            .with {
                $0.profile.userID = StubServices.userID
                $0.profile.displayName = request.displayName
                $0.profile.phoneNumber = "+639171234567"
                $0.profile.updatedAtMs = 1_769_903_999_123
            }
        }
        answers.batchGetProfiles = { _, _ in .init() }
        return answers
    }
}

extension GroupServiceDouble.Answers {
    /// Groups and members can be created, and there are none yet.
    fileprivate static var usual: Self {
        var answers = Self()
        answers.createGroup = { request, _ in
            .with {
                $0.group.groupID = "g-1"
                $0.group.name = request.name
                $0.group.ownerUserID = StubServices.userID
                $0.group.createdAt = .init(milliseconds: 1000)
                $0.group.openness = request.openness == .unspecified ? .open : request.openness
                $0.group.role = .owner
            }
        }
        answers.addMember = { request, _ in
            .with {
                $0.member.memberID = "m-1"
                $0.member.state = .pending
                $0.member.phoneNumber = request.phoneNumber
                $0.member.displayName = request.displayName
                $0.member.addedAt = .init(milliseconds: 2000)
            }
        }
        answers.listGroups = { _, _ in .init() }
        answers.listMembers = { _, _ in .init() }
        return answers
    }
}

extension HealthDouble.Answers {
    /// All services serve.
    fileprivate static var usual: Self {
        var answers = Self()
        answers.check = { _, _ in .with { $0.status = .serving } }
        return answers
    }
}
