import API
import HTTPJSON
import RPC
import ServiceKit
import SwiftProtobuf

/// The RPCs that apps may call: `vestibule.app.v1`, each answered by the method that its route calls, too.
struct AppRouter: Sendable {
    let methods: AppMethods
    /// The unary methods.
    let table: AppMethodTable
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
        for method in table.all { method.addRPC(&router, calls) }
        addWatch(to: &router)
        addKeySet(to: &router)
        if reflection { router.add(try ReflectionService(services: router.services)) }
        return router
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
