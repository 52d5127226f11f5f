import API
import RPC
import ServiceKit
import SwiftProtobuf

/// The RPCs that apps may call: `vestibule.app.v1`, each answered by the method that its route calls, too.
struct AppRouter: Sendable {
    let methods: AppMethods
    let calls: AppCalls

    /// A router with all of them.
    ///
    /// - Parameters:
    ///   - interceptors: what each call passes first.
    ///   - reflection: whether clients may ask for the descriptors.
    ///   - suspended: methods whose calls are refused for a while.
    /// - Throws: if a service has no descriptor.
    func router(
        interceptors: [any ServerInterceptor] = [],
        reflection: Bool = false,
        suspended: SuspendedMethods = SuspendedMethods()
    ) throws -> Router {
        // Callers hand deadline and trace on by themselves.
        var router = Router(
            interceptors: interceptors + [Admission(calls: calls)],
            makesOnwardCalls: false,
            suspended: suspended
        )
        add(AuthServiceMethods.signInWithProvider, to: &router, methods.signInWithProvider)
        add(AuthServiceMethods.createChallenge, to: &router, methods.createChallenge)
        add(AuthServiceMethods.refreshSession, to: &router, methods.refreshSession)
        add(AuthServiceMethods.signOut, to: &router, methods.signOut)
        add(AuthServiceMethods.signOutEverywhere, to: &router, methods.signOutEverywhere)
        addForUsers(AuthServiceMethods.listSessions, to: &router, methods.listSessions)
        addForUsers(AuthServiceMethods.renameSession, isChange: true, to: &router, methods.renameSession)
        addForUsers(AuthServiceMethods.endSession, isChange: true, to: &router, methods.endSession)
        addForUsers(AuthServiceMethods.listProviders, to: &router, methods.listProviders)
        addForUsers(AuthServiceMethods.linkProvider, isChange: true, to: &router, methods.linkProvider)
        addForUsers(AuthServiceMethods.unlinkProvider, isChange: true, to: &router, methods.unlinkProvider)
        addForUsers(AccountServiceMethods.getMe, to: &router, methods.getMe)
        addForUsers(AccountServiceMethods.updateMe, isChange: true, to: &router, methods.updateMe)
        addForUsers(AccountServiceMethods.checkUsername, to: &router, methods.checkUsername)
        addForUsers(AccountServiceMethods.provePhone, isChange: true, to: &router, methods.provePhone)
        add(AccountServiceMethods.deleteMe, to: &router, methods.deleteMe)
        addForUsers(AccountServiceMethods.cancelDeletion, isChange: true, to: &router, methods.cancelDeletion)
        addForUsers(GroupServiceMethods.createGroup, isChange: true, to: &router, methods.createGroup)
        addForUsers(GroupServiceMethods.listGroups, to: &router, methods.listGroups)
        addForUsers(GroupServiceMethods.addMember, isChange: true, to: &router, methods.addMember)
        addForUsers(GroupServiceMethods.listMembers, to: &router, methods.listMembers)
        addForUsers(GroupServiceMethods.addMembers, isChange: true, to: &router, methods.addMembers)
        addForUsers(GroupServiceMethods.getGroup, to: &router, methods.getGroup)
        addForUsers(GroupServiceMethods.updateGroup, isChange: true, to: &router, methods.updateGroup)
        addForUsers(GroupServiceMethods.deleteGroup, isChange: true, to: &router, methods.deleteGroup)
        addForUsers(GroupServiceMethods.removeMember, isChange: true, to: &router, methods.removeMember)
        addForUsers(GroupServiceMethods.leaveGroup, isChange: true, to: &router, methods.leaveGroup)
        addForUsers(GroupServiceMethods.setMemberRole, isChange: true, to: &router, methods.setMemberRole)
        addForUsers(GroupServiceMethods.handOverGroup, isChange: true, to: &router, methods.handOverGroup)
        addForUsers(GroupServiceMethods.listMyInvitations, to: &router, methods.listMyInvitations)
        addForUsers(GroupServiceMethods.acceptInvitation, isChange: true, to: &router, methods.acceptInvitation)
        addForUsers(GroupServiceMethods.declineInvitation, isChange: true, to: &router, methods.declineInvitation)
        addForUsers(GroupServiceMethods.confirmMember, isChange: true, to: &router, methods.confirmMember)
        addForUsers(GroupServiceMethods.listPending, to: &router, methods.listPending)
        addForUsers(GroupServiceMethods.createGroupLink, isChange: true, to: &router, methods.createGroupLink)
        addForUsers(GroupServiceMethods.listGroupLinks, to: &router, methods.listGroupLinks)
        addForUsers(GroupServiceMethods.revokeGroupLink, isChange: true, to: &router, methods.revokeGroupLink)
        addForUsers(GroupServiceMethods.previewGroupLink, to: &router, methods.previewGroupLink)
        addForUsers(GroupServiceMethods.joinByLink, isChange: true, to: &router, methods.joinByLink)
        addForUsers(GroupServiceMethods.blockInviter, isChange: true, to: &router, methods.blockInviter)
        addForUsers(GroupServiceMethods.unblockInviter, isChange: true, to: &router, methods.unblockInviter)
        addForUsers(GroupServiceMethods.listBlockedInviters, to: &router, methods.listBlockedInviters)
        addWatch(to: &router)
        addKeySet(to: &router)
        if reflection { router.add(try ReflectionService(services: router.services)) }
        return router
    }

    /// Adds a method that anybody may call.
    private func add<Request: Message, Response: Message>(
        _ method: MethodDescriptor,
        to router: inout Router,
        _ answer: @escaping @Sendable (Request, Caller) async throws -> Response
    ) {
        router.unary(method, request: Request.self, response: Response.self) { [calls] request, context in
            try await calls.answer(context) { try await answer(request, $0) }
        }
    }

    /// Adds a method that needs an access token.
    private func addForUsers<Request: Message, Response: Message>(
        _ method: MethodDescriptor,
        isChange: Bool = false,
        to router: inout Router,
        _ answer: @escaping @Sendable (Request, SignedInUser) async throws -> Response
    ) {
        router.unary(method, request: Request.self, response: Response.self) { [calls, methods] request, context in
            try await calls.answer(context) { caller in
                try await answer(request, try await methods.authentication.user(caller, isChange: isChange))
            }
        }
    }

    /// The stream of those who watch their groups.
    private func addWatch(to router: inout Router) {
        router.serverStreaming(
            GroupServiceMethods.watchGroups,
            request: AppV1.WatchGroupsRequest.self,
            response: AppV1.WatchGroupsResponse.self
        ) { [calls, methods] request, responses, context in
            try await calls.answer(context) { caller in
                let watch = try await methods.watchGroups(request, caller)
                do {
                    try await responses.write(AppV1.WatchGroupsResponse(watch.begun))
                    try await watch.follow { try await responses.write(AppV1.WatchGroupsResponse($0)) }
                } catch let end as WatchEnd {
                    throw end.problem
                }
            }
        }
    }

    /// The key set, which caches may keep where it is asked for by GET.
    private func addKeySet(to router: inout Router) {
        let method = KeyServiceMethods.getKeySet
        router.unary(method, request: AppV1.GetKeySetRequest.self) { [calls, methods] request, context in
            let response = try await calls.answer(context) { try await methods.getKeySet(request, $0) }
            let lifetime = "public, max-age=\(response.maxAgeSeconds)"
            try await context.sendInitialMetadata(Metadata(["cache-control": lifetime]))
            return response
        }
    }
}

/// Counts what no method of ours sees against the limit of the client's address: reflection, and calls whose message is none.
private struct Admission: ServerInterceptor {
    let calls: AppCalls

    func intercept<Request: Message, Response: Message>(
        _ request: Request,
        _ context: ServerContext,
        next: @Sendable (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        try await next(request, context)
    }

    func interceptStream(_ context: ServerContext, next: @Sendable () async throws -> Void) async throws {
        // Ours answer by themselves.
        if context.method.service == GroupServiceMethods.serviceName { return try await next() }
        try await calls.answer(context) { _ in try await next() }
    }

    func refusal(of context: ServerContext, _ error: RPCError) -> RPCError { calls.refusal(of: context, error) }
}
