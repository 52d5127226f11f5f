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
    /// - Throws: if a service has no descriptor.
    func router(interceptors: [any ServerInterceptor] = [], reflection: Bool = false) throws -> Router {
        // Callers hand deadline and trace on by themselves.
        var router = Router(interceptors: interceptors + [Admission(calls: calls)], makesOnwardCalls: false)
        add(AuthServiceMethods.signInWithProvider, to: &router, methods.signInWithProvider)
        add(AuthServiceMethods.refreshSession, to: &router, methods.refreshSession)
        add(AuthServiceMethods.signOut, to: &router, methods.signOut)
        addForUsers(AccountServiceMethods.getMe, to: &router, methods.getMe)
        addForUsers(AccountServiceMethods.updateMe, isChange: true, to: &router, methods.updateMe)
        addForUsers(GroupServiceMethods.createGroup, isChange: true, to: &router, methods.createGroup)
        addForUsers(GroupServiceMethods.listGroups, to: &router, methods.listGroups)
        addForUsers(GroupServiceMethods.addMember, isChange: true, to: &router, methods.addMember)
        addForUsers(GroupServiceMethods.listMembers, to: &router, methods.listMembers)
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

/// Counts what no method of ours sees against the limit of the client's address: streams, which only reflection has, and calls
/// whose message is none.
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
        try await calls.answer(context) { _ in try await next() }
    }

    func refusal(of context: ServerContext, _ error: RPCError) -> RPCError { calls.refusal(of: context, error) }
}
