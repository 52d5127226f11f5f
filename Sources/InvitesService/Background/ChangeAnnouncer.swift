import RPC
import SwiftProtobuf

/// Announces group changes after each call that may have changed something, whatever method it was.
struct ChangeAnnouncer: ServerInterceptor {
    let groupEvents: GroupEventHub

    func intercept<Request: Message, Response: Message>(
        _ request: Request,
        _ context: ServerContext,
        next: @Sendable (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        if !Self.onlyReads(context.method.method) { groupEvents.announce() }
        return response
    }

    /// Whether a method's name says that it only reads. A read-only method with another name costs a needless look.
    private static func onlyReads(_ name: String) -> Bool {
        name.hasPrefix("List") || name.hasPrefix("Get") || name.hasPrefix("Check")
    }
}
