import API
import HTTPJSON
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
        addForUsers(GroupServiceMethods.listMembers, to: &router, methods.listMembers)
        methods.groups.addForwards(to: &router, by: self)
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

    /// Adds the stream of group events.
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

extension AppRouter: CallForwarder {
    /// Forwards a call of a signed-in user. A call that has an effect each time it is made fails as one that the client may not
    /// repeat, unless it certainly did nothing.
    func forward<Request: Message, Response: Message>(
        _ request: Request,
        _ context: ServerContext,
        changes: Bool,
        _ call: (Request, CallOptions) async throws(RPCError) -> Response
    ) async throws -> Response {
        try await calls.answer(context) { caller in
            let user = try await methods.authentication.user(caller, isChange: changes)
            do throws(RPCError) {
                return try await call(request, methods.groupOptions(user))
            } catch {
                throw context.method.isIdempotent ? error : Problem.unlessRepeatable(error)
            }
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
